//! The misconceptions behind strategies that fail: each is known by the schedule that breaks a promise.

use explore::{EventKind, Schedule};
use loadtest::shop::response::ResponseKind;
use loadtest::trace::Role;
use workshop::Language;

/// A misconception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Read, check and write are taken for one step.
    ReadThenWrite,
    /// A lock lets in two at once, as it is known to one process only, or shared.
    LockIsShared,
    /// A read under a lock is taken to be new, though its snapshot is older than the lock.
    OldSnapshot,
    /// The lock is released before the write can be seen.
    ReleasedEarly,
    /// A write that found no row is taken for a write.
    IgnoredResult,
    /// The holder of a lease is taken to hold it still when it writes.
    LeaseIsLost,
    /// A lock is expected to end with its holder.
    LockOutlives,
    /// Two writes are taken for one.
    HalfDone,
    /// No answer is taken for a no.
    NoAnswer,
    /// A purchase that arrives twice is taken for two.
    Twice,
    /// A conflict is taken for "sold out".
    GivesUp,
}

impl Mistake {
    /// Returns the misconception that a schedule shows.
    pub fn of(schedule: &Schedule) -> Self {
        let has = |name: &str| schedule.findings.iter().any(|(found, _)| found == name);
        let event = schedule.choices.iter().find_map(|choice| choice.event());
        match event {
            Some(EventKind::Crash) if has("stuck") => Self::LockOutlives,
            Some(EventKind::LostReply) => Self::NoAnswer,
            Some(EventKind::Crash) => Self::HalfDone,
            Some(EventKind::Repeat) => Self::Twice,
            Some(_) => Self::LeaseIsLost,
            None if !has("oversold") => Self::GivesUp,
            None => Self::without_event(schedule),
        }
    }

    /// Returns the misconception where nothing else happened than the steps of purchases.
    fn without_event(schedule: &Schedule) -> Self {
        let lines = || schedule.lines.iter().enumerate();
        let of = |purchase: usize, role: Role| {
            let mine = lines().filter(move |(_, line)| line.choice.step() == Some(purchase));
            mine.filter(move |(_, line)| line.role == Some(role)).map(|(at, _)| at)
        };
        let sold = schedule
            .told
            .iter()
            .enumerate()
            .filter(|(_, told)| **told == ResponseKind::Sold);
        let sold: Vec<usize> = sold.map(|(purchase, _)| purchase).collect();
        let writes_nothing = lines().any(|(_, line)| {
            line.role == Some(Role::Write)
                && line.said.as_deref() == Some("0 rows")
                && line.choice.step().is_some_and(|purchase| sold.contains(&purchase))
        });
        if writes_nothing {
            return Self::IgnoredResult;
        }
        let is_early = |purchase: &usize| {
            let end = of(*purchase, Role::Commit)
                .next_back()
                .or_else(|| of(*purchase, Role::Write).next_back());
            let released = of(*purchase, Role::Release).next();
            matches!((released, end), (Some(released), Some(end)) if released < end)
        };
        if sold.iter().any(is_early) {
            return Self::ReleasedEarly;
        }
        // When each purchase had its lock, and until when.
        let held = sold.iter().map(|purchase| {
            let taken = of(*purchase, Role::Lock).next_back()?;
            let taken = schedule.lines[taken].waited_until.unwrap_or(taken);
            Some((taken, of(*purchase, Role::Release).next()?))
        });
        let Some(mut held) = held.collect::<Option<Vec<_>>>() else {
            return Self::ReadThenWrite;
        };
        held.sort_unstable();
        if held.windows(2).all(|pair| pair[0].1 <= pair[1].0) {
            Self::OldSnapshot
        } else {
            Self::LockIsShared
        }
    }

    /// Returns the misconception, and what to look at, in one sentence each.
    pub fn words(self, language: Language) -> &'static str {
        let [english, chinese] = match self {
            Self::ReadThenWrite => [
                "Read, check and write are three steps, and another purchase comes between them. Let the store check and take in \
                 one statement, or hold one lock from the read to the write.",
                "读、判断、写是三步，别的购买会插到中间。让存储用一条语句完成判断和扣减，或者用同一把锁从读一直持有到写完。",
            ],
            Self::LockIsShared => [
                "Two purchases are inside at once, although each has taken its lock: the lock is known to one process only, or it \
                 lets in more than one. Put it where all instances see it, and let it exclude.",
                "两个购买都拿到了锁，却同时在里面：这把锁只有一个进程知道，或者本来就允许多个持有者。把锁放到所有实例都看得到的地方，并且做到互斥。",
            ],
            Self::OldSnapshot => [
                "The lock excludes, and a read under it is old: the transaction had read before it took the lock, and its plain reads \
                 see that snapshot. Take the lock first, or read with FOR UPDATE.",
                "锁是互斥的，但锁内读到的是旧数据：事务在加锁之前已经读过，之后的普通读都看到那个快照。先加锁再开始读，或者用 FOR UPDATE 读。",
            ],
            Self::ReleasedEarly => [
                "The lock is released before the write can be seen by others: the next holder reads the old number. Commit first, \
                 and release afterwards.",
                "锁在写入对别人可见之前就释放了，下一个持有者读到的还是旧数字。先提交，再释放锁。",
            ],
            Self::IgnoredResult => [
                "An update that finds no row is no error: it did nothing, and the order was entered all the same. Look at the \
                 number of rows.",
                "更新没有匹配到行并不会报错：什么都没写，订单却照样录入了。要检查受影响的行数。",
            ],
            Self::LeaseIsLost => [
                "A lease ends by the clock, or with its store, and its holder does not know. The holder writes late, and nothing \
                 refuses it. Only the store can refuse a late write: by a fencing token, or by a condition in the write.",
                "租约会按时钟到期，也会随存储一起丢失，而持有者并不知道。它迟到的写入没有人拒绝。只有存储能拒绝：用围栏令牌（fencing token），或者在写入里带条件。",
            ],
            Self::LockOutlives => [
                "A lock in a store does not end with its holder: nobody can buy any more. Give it a lease in the same command that \
                 takes it.",
                "存储里的锁不会随持有者一起消失：从此再也没有人买得到。要在加锁的同一条命令里设置租约。",
            ],
            Self::HalfDone => [
                "Between two writes a process can die, and half of the sale stays. Write both in one transaction, or keep a record \
                 from which another process completes the sale.",
                "两次写入之间进程可能崩溃，于是只完成了一半。把两次写入放进同一个事务，或者留下一条记录，让别的进程把它做完。",
            ],
            Self::NoAnswer => [
                "No answer is not a no: the store has done it. Ask again with the same key, and let the store recognise it.",
                "没有答复不等于失败：存储已经执行了。用同一个幂等键再问一次，让存储认出它。",
            ],
            Self::Twice => [
                "The same purchase came twice and was sold twice. Enter its key in the transaction that takes the unit.",
                "同一个购买来了两次，也卖了两次。把幂等键和扣减放进同一个事务。",
            ],
            Self::GivesUp => [
                "A buyer was told sold out, and a unit was left or came back. A conflict is no answer: try again, or say busy.",
                "买家被告知售罄，可是还有货，或者货又退了回来。冲突不等于售罄：重试，或者回答“繁忙”。",
            ],
        };
        language.of(english, chinese)
    }
}
