//! The languages of the generated parts.

use crate::audit::Finding;
use crate::result::conclusion::Conclusion;

/// The language of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `README.md`
    English,
    /// `README.zh-CN.md`
    Chinese,
}

impl Language {
    /// Returns the text in this language.
    pub(super) fn of<T>(self, english: T, chinese: T) -> T {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }

    /// Returns a conclusion as the cell of a table. A failure is bold.
    pub(super) fn word(self, conclusion: Conclusion) -> String {
        match conclusion {
            Conclusion::Holds => self.of("holds", "可靠").to_owned(),
            Conclusion::Fails(finding) => format!("**{}**", self.failure(finding)),
            Conclusion::DataLoss => self.of("data loss", "丢数据").to_owned(),
            Conclusion::NoTest => self.of("no test", "未检验").to_owned(),
            Conclusion::NotTried => "-".to_owned(),
        }
    }

    fn failure(self, finding: Finding) -> &'static str {
        match finding {
            Finding::Oversold => self.of("oversells", "超卖"),
            Finding::Duplicate => self.of("duplicates", "重复下单"),
            Finding::Lost => self.of("loses", "丢单"),
            Finding::Ghost => self.of("ghosts", "幽灵订单"),
            Finding::Stuck => self.of("stuck", "卡死"),
            Finding::Unavailable => self.of("unavailable", "不可用"),
            Finding::Undersold => self.of("undersells", "少卖"),
            Finding::FalseRefusal => self.of("refuses", "误拒"),
            Finding::Drift => self.of("drifts", "账目不符"),
            Finding::Unreadable => self.of("unreadable", "不可读"),
        }
    }
}
