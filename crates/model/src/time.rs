//! Dates as texts, and the units that names of time bins carry.

/// A date format of the `strftime` kind: `%Y %m %d %H %M %S %j` and literals.
#[derive(Clone, Debug, PartialEq)]
pub struct DateFormat {
    text: String,
    parts: Vec<DatePart>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum DatePart {
    Literal(char),
    Field(DateField),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum DateField {
    Year,
    Month,
    Day,
    DayOfYear,
    Hour,
    Minute,
    Second,
}

impl DateField {
    fn from_letter(letter: char) -> Option<DateField> {
        Some(match letter {
            'Y' => DateField::Year,
            'm' => DateField::Month,
            'd' => DateField::Day,
            'j' => DateField::DayOfYear,
            'H' => DateField::Hour,
            'M' => DateField::Minute,
            'S' => DateField::Second,
            _ => return None,
        })
    }

    fn width(self) -> usize {
        match self {
            DateField::Year => 4,
            DateField::DayOfYear => 3,
            _ => 2,
        }
    }

    fn range(self) -> std::ops::RangeInclusive<u32> {
        match self {
            DateField::Year => 0..=9999,
            DateField::Month => 1..=12,
            DateField::Day => 1..=31,
            DateField::DayOfYear => 1..=366,
            DateField::Hour => 0..=23,
            DateField::Minute => 0..=59,
            DateField::Second => 0..=60,
        }
    }
}

/// A point in time in UTC, to the second.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moment {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
}

impl DateFormat {
    /// Reads a format; nothing when it has a field that is not known here.
    pub fn parse(text: &str) -> Option<DateFormat> {
        let mut parts = Vec::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '%' => match letters.next()? {
                    '%' => parts.push(DatePart::Literal('%')),
                    'F' => parts.extend(DateFormat::parse("%Y-%m-%d")?.parts),
                    letter => parts.push(DatePart::Field(DateField::from_letter(letter)?)),
                },
                letter => parts.push(DatePart::Literal(letter)),
            }
        }
        let has_field = parts.iter().any(|part| matches!(part, DatePart::Field(_)));
        has_field.then(|| DateFormat { text: text.to_owned(), parts })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Bytes of every date: all fields have a fixed width.
    pub fn fixed_len(&self) -> Option<usize> {
        let len = |part: &DatePart| match part {
            DatePart::Literal(c) => c.len_utf8(),
            DatePart::Field(field) => field.width(),
        };
        Some(self.parts.iter().map(len).sum())
    }

    /// Whether texts sort as the times do: from the year downwards, nothing left out above.
    pub fn is_sortable(&self) -> bool {
        let fields: Vec<DateField> = self
            .parts
            .iter()
            .filter_map(|part| match part {
                DatePart::Field(field) => Some(*field),
                DatePart::Literal(_) => None,
            })
            .collect();
        fields.first() == Some(&DateField::Year) && fields.is_sorted()
    }

    /// The value in this format: it may be given so, as ISO 8601, or as epoch milliseconds.
    pub fn normalise(&self, value: &str) -> Result<String, String> {
        if self.fits(value) {
            return Ok(value.to_owned());
        }
        let moment = iso(value).or_else(|| epoch_ms(value)).ok_or_else(|| {
            format!(
                "`{value}` is no date; give {}, an ISO date such as 2026-03-30, or epoch \
                 milliseconds",
                self.text
            )
        })?;
        Ok(self.write(&moment))
    }

    fn fits(&self, mut value: &str) -> bool {
        for part in &self.parts {
            match part {
                DatePart::Literal(c) => match value.strip_prefix(*c) {
                    Some(rest) => value = rest,
                    None => return false,
                },
                DatePart::Field(field) => {
                    let Some((digits, rest)) = value.split_at_checked(field.width()) else {
                        return false;
                    };
                    let number = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse());
                    if !matches!(number, Some(Ok(n)) if field.range().contains(&n)) {
                        return false;
                    }
                    value = rest;
                }
            }
        }
        value.is_empty()
    }

    fn write(&self, moment: &Moment) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                DatePart::Literal(c) => out.push(*c),
                DatePart::Field(field) => {
                    let number = match field {
                        DateField::Year => moment.year,
                        DateField::Month => moment.month,
                        DateField::Day => moment.day,
                        DateField::DayOfYear => day_of_year(moment),
                        DateField::Hour => moment.hour,
                        DateField::Minute => moment.minute,
                        DateField::Second => moment.second,
                    };
                    let width = field.width();
                    out.push_str(&format!("{number:0width$}"));
                }
            }
        }
        out
    }
}

/// `2026-03-30`, `2026-03-30T12:30:00Z` and what lies between.
fn iso(text: &str) -> Option<Moment> {
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let mut date = date.splitn(3, '-');
    let mut number = |range: std::ops::RangeInclusive<u32>| {
        date.next()?.parse().ok().filter(|n| range.contains(n))
    };
    let (year, month, day) = (number(0..=9999)?, number(1..=12)?, number(1..=31)?);
    let time = time.strip_suffix('Z').unwrap_or(time);
    let mut clock = [0u32; 3];
    for (slot, text) in clock.iter_mut().zip(time.split(':').filter(|text| !text.is_empty())) {
        *slot = text.split('.').next()?.parse().ok().filter(|n| *n < 61)?;
    }
    Some(Moment { year, month, day, hour: clock[0], minute: clock[1], second: clock[2] })
}

/// Milliseconds since 1970.
fn epoch_ms(text: &str) -> Option<Moment> {
    let ms: i64 = text.parse().ok()?;
    // Years 1973 to 5138: smaller numbers are no milliseconds of our time.
    if !(100_000_000_000..100_000_000_000_000).contains(&ms) {
        return None;
    }
    let seconds = ms / 1000;
    let (year, month, day) = civil(seconds / 86_400);
    let of_day = (seconds % 86_400) as u32;
    Some(Moment {
        year: u32::try_from(year).ok()?,
        month,
        day,
        hour: of_day / 3600,
        minute: of_day / 60 % 60,
        second: of_day % 60,
    })
}

/// Year, month and day of a number of days since 1970-01-01.
pub fn civil(days: i64) -> (i64, u32, u32) {
    // Years are counted from March, so that the leap day is the last day of a year.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = (of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month as u32, day)
}

fn day_of_year(moment: &Moment) -> u32 {
    let leap = moment.year.is_multiple_of(4)
        && (!moment.year.is_multiple_of(100) || moment.year.is_multiple_of(400));
    let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let month = moment.month.clamp(1, 12) as usize;
    before[month - 1] + moment.day + u32::from(leap && month > 2)
}

/// Units that the last word of a name may say.
const UNITS: &[(&str, &str)] = &[
    ("ms", "ms"),
    ("us", "us"),
    ("ns", "ns"),
    ("s", "s"),
    ("sec", "s"),
    ("secs", "s"),
    ("seconds", "s"),
    ("min", "min"),
    ("mins", "min"),
    ("minutes", "min"),
    ("h", "h"),
    ("hr", "h"),
    ("hours", "h"),
    ("d", "d"),
    ("day", "d"),
    ("days", "d"),
];

/// What a bin's name says about time: the concept, and the unit when the name ends in one.
///
/// ```
/// use cairn_model::time::name_and_unit;
/// assert_eq!(name_and_unit("created_at_ms"), ("created_at", Some("ms")));
/// assert_eq!(name_and_unit("created_at"), ("created_at", None));
/// ```
pub fn name_and_unit(name: &str) -> (&str, Option<&'static str>) {
    if let Some((stem, last)) = name.rsplit_once('_')
        && let Some((_, unit)) = UNITS.iter().find(|(word, _)| *word == last)
    {
        return (stem, Some(unit));
    }
    (name, None)
}

/// Whether a name alone says that the value is a time.
pub fn sounds_like_time(name: &str) -> bool {
    let (stem, _) = name_and_unit(name);
    matches!(stem, "timestamp" | "ts" | "time" | "date" | "created" | "updated" | "modified")
        || ["_at", "_time", "_date", "_timestamp", "_ts", "_until", "_since"]
            .iter()
            .any(|end| stem.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_may_be_given_in_three_ways() {
        let format = DateFormat::parse("%Y-%m-%d").unwrap();
        assert_eq!(format.normalise("2026-03-30").unwrap(), "2026-03-30");
        assert_eq!(format.normalise("2026-03-30T23:59:59Z").unwrap(), "2026-03-30");
        assert_eq!(format.normalise("1742468400000").unwrap(), "2025-03-20");
        assert!(format.normalise("yesterday").is_err());
        assert!(format.normalise("2026-13-30").is_err());
        let hourly = DateFormat::parse("%Y-%m-%d-%H").unwrap();
        assert_eq!(hourly.normalise("2026-03-30T07:00").unwrap(), "2026-03-30-07");
        assert_eq!(DateFormat::parse("%Y%j").unwrap().normalise("2024-12-31").unwrap(), "2024366");
    }

    #[test]
    fn which_formats_sort() {
        let sorts = |text| DateFormat::parse(text).unwrap().is_sortable();
        assert!(sorts("%Y%m%d"));
        assert!(sorts("%Y-%m-%dT%H:%M:%S"));
        assert!(!sorts("%d.%m.%Y"));
        assert!(!sorts("%H:%M"));
        assert!(DateFormat::parse("%q").is_none());
        assert!(DateFormat::parse("today").is_none());
    }

    #[test]
    fn days_to_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(-1), (1969, 12, 31));
    }
}
