//! The anomalies, from the weakest level that prevents them to the strongest.

use super::script::Script;

/// An anomaly.
pub struct Anomaly {
    /// Its short name in the literature.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// The scripts in which it may happen.
    pub(super) scripts: &'static [Script],
}

/// Every anomaly.
pub const ANOMALIES: &[Anomaly] = &[
    Anomaly {
        name: "G0",
        title: "write cycle: two transactions overwrite each other's rows",
        scripts: &[Script {
            moves: &[
                (0, "update shelf set units = 11 where id = 1"),
                (1, "update shelf set units = 12 where id = 1"),
                (0, "update shelf set units = 21 where id = 2"),
                (0, "commit"),
                (1, "update shelf set units = 22 where id = 2"),
                (1, "commit"),
            ],
            writes_by_predicate: false,
            happened: |seen| {
                [[(1, 12), (2, 21)], [(1, 11), (2, 22)]]
                    .iter()
                    .any(|mixed| seen.after() == mixed)
            },
        }],
    },
    Anomaly {
        name: "G1a",
        title: "aborted read: a transaction reads what another one rolls back",
        scripts: &[Script {
            moves: &[
                (0, "update shelf set units = 101 where id = 1"),
                (1, "select id, units from shelf"),
                (0, "rollback"),
                (1, "select id, units from shelf"),
                (1, "commit"),
            ],
            writes_by_predicate: false,
            happened: |seen| [1, 3].iter().any(|place| seen.units(*place, 1) == Some(101)),
        }],
    },
    Anomaly {
        name: "G1b",
        title: "intermediate read: a transaction reads what another one overwrites before it commits",
        scripts: &[Script {
            moves: &[
                (0, "update shelf set units = 101 where id = 1"),
                (1, "select id, units from shelf"),
                (0, "update shelf set units = 11 where id = 1"),
                (0, "commit"),
                (1, "select id, units from shelf"),
                (1, "commit"),
            ],
            writes_by_predicate: false,
            happened: |seen| [1, 4].iter().any(|place| seen.units(*place, 1) == Some(101)),
        }],
    },
    Anomaly {
        name: "G1c",
        title: "circular information flow: two transactions read what the other one has written",
        scripts: &[Script {
            moves: &[
                (0, "update shelf set units = 11 where id = 1"),
                (1, "update shelf set units = 22 where id = 2"),
                (0, "select id, units from shelf where id = 2"),
                (1, "select id, units from shelf where id = 1"),
                (0, "commit"),
                (1, "commit"),
            ],
            writes_by_predicate: false,
            happened: |seen| seen.units(2, 2) == Some(22) && seen.units(3, 1) == Some(11),
        }],
    },
    Anomaly {
        name: "OTV",
        title: "observed transaction vanishes: a reader sees one write of a transaction, and not the other",
        scripts: &[Script {
            moves: &[
                (0, "update shelf set units = 11 where id = 1"),
                (0, "update shelf set units = 19 where id = 2"),
                (1, "update shelf set units = 12 where id = 1"),
                (0, "commit"),
                (2, "select id, units from shelf"),
                (1, "update shelf set units = 18 where id = 2"),
                (2, "select id, units from shelf"),
                (1, "commit"),
                (2, "select id, units from shelf"),
                (2, "commit"),
            ],
            writes_by_predicate: false,
            happened: |seen| {
                let mixed = |place: &usize| seen.units(*place, 1) == Some(12) && seen.units(*place, 2) == Some(19);
                [4, 6, 8].iter().any(mixed)
            },
        }],
    },
    Anomaly {
        name: "PMP",
        title: "predicate-many-preceders: a row appears under a predicate that was read before",
        scripts: &[
            Script {
                moves: &[
                    (0, "select id, units from shelf where units = 30"),
                    (1, "insert into shelf values (3, 30)"),
                    (1, "commit"),
                    (0, "select id, units from shelf where units % 3 = 0"),
                    (0, "commit"),
                ],
                writes_by_predicate: false,
                happened: |seen| seen.all_committed() && !seen.rows(3).is_empty() && seen.rows(0).is_empty(),
            },
            Script {
                moves: &[
                    (0, "update shelf set units = units + 10"),
                    (1, "select id, units from shelf where units = 20"),
                    (1, "delete from shelf where units = 20"),
                    (0, "commit"),
                    (1, "commit"),
                ],
                writes_by_predicate: true,
                // Either order leaves another row than this read and this delete together.
                happened: |seen| seen.all_committed() && seen.rows(1) == [(2, 20)] && seen.after() != [(1, 20)],
            },
        ],
    },
    Anomaly {
        name: "P4",
        title: "lost update: two transactions read a number and both write it",
        scripts: &[Script {
            moves: &[
                (0, "select id, units from shelf where id = 1"),
                (1, "select id, units from shelf where id = 1"),
                (0, "update shelf set units = 9 where id = 1"),
                (1, "update shelf set units = 9 where id = 1"),
                (0, "commit"),
                (1, "commit"),
            ],
            writes_by_predicate: false,
            happened: |seen| seen.all_committed() && seen.units(0, 1) == seen.units(1, 1),
        }],
    },
    Anomaly {
        name: "G-single",
        title: "read skew: a transaction reads one row before another transaction, and the next row after it",
        scripts: &[
            Script {
                moves: &[
                    (0, "select id, units from shelf where id = 1"),
                    (1, "update shelf set units = 12 where id = 1"),
                    (1, "update shelf set units = 18 where id = 2"),
                    (1, "commit"),
                    (0, "select id, units from shelf where id = 2"),
                    (0, "commit"),
                ],
                writes_by_predicate: false,
                happened: |seen| seen.units(0, 1) == Some(10) && seen.units(4, 2) == Some(18),
            },
            Script {
                moves: &[
                    (0, "select id, units from shelf where id = 1"),
                    (1, "update shelf set units = 12 where id = 1"),
                    (1, "update shelf set units = 18 where id = 2"),
                    (1, "commit"),
                    (0, "delete from shelf where units = 20"),
                    (0, "commit"),
                ],
                writes_by_predicate: true,
                happened: |seen| seen.all_committed() && seen.units(0, 1) == Some(10) && seen.after().len() == 2,
            },
        ],
    },
    Anomaly {
        name: "G2-item",
        title: "write skew: two transactions read two rows, and each writes another one",
        scripts: &[Script {
            moves: &[
                (0, "select id, units from shelf where id in (1, 2)"),
                (1, "select id, units from shelf where id in (1, 2)"),
                (0, "update shelf set units = 11 where id = 1"),
                (1, "update shelf set units = 21 where id = 2"),
                (0, "commit"),
                (1, "commit"),
            ],
            writes_by_predicate: false,
            happened: |seen| seen.all_committed() && seen.rows(0) == seen.rows(1),
        }],
    },
    Anomaly {
        name: "G2",
        title: "write skew on a predicate: two transactions find nothing, and each inserts what the other one looked for",
        scripts: &[Script {
            moves: &[
                (0, "select id, units from shelf where units % 3 = 0"),
                (1, "select id, units from shelf where units % 3 = 0"),
                (0, "insert into shelf values (3, 30)"),
                (1, "insert into shelf values (4, 42)"),
                (0, "commit"),
                (1, "commit"),
            ],
            writes_by_predicate: false,
            happened: |seen| seen.all_committed() && seen.rows(0) == seen.rows(1),
        }],
    },
];
