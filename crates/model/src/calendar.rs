//! Days since 1970 to dates of the proleptic Gregorian calendar, and back: Howard Hinnant, "chrono-Compatible Low-Level
//! Date Algorithms".

/// The number of days from 1970-01-01 to a date; `month` from 1 to 12, `day` from 1. Negative before 1970.
pub fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The inverse of [`days_since_1970`]: year, month (from 1) and day of the month (from 1).
pub fn date_of_day(days_since_1970: i64) -> (i64, i64, i64) {
    let days = days_since_1970 + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_eight_centuries_follows_the_one_before() {
        let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let (mut year, mut month, mut day) = (1600, 1, 1);
        for days in days_since_1970(1600, 1, 1)..days_since_1970(2400, 1, 1) {
            assert_eq!(date_of_day(days), (year, month, day));
            assert_eq!(days_since_1970(year, month, day), days);
            let length = match month {
                2 => 28 + i64::from(leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            (month, day) = if day < length { (month, day + 1) } else { (month + 1, 1) };
            (year, month) = if month <= 12 { (year, month) } else { (year + 1, 1) };
        }
        assert_eq!(days_since_1970(1970, 1, 1), 0);
    }
}
