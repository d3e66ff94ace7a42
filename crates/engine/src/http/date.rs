//! Dates as HTTP writes them, to and from seconds since 1970 (UTC).

use model::calendar::{date_of_day, days_since_1970};

const MONTHS: [&[u8; 3]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];

/// Reads a date by RFC 6265 section 5.1.1, which takes the three forms of RFC 9110 section 5.6.7 and what servers
/// write besides. Nothing when it is not a date.
pub fn parse(text: &[u8]) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(|byte| is_delimiter(*byte)) {
        if time.is_none() && hms(token).is_some() {
            time = hms(token);
        } else if day.is_none() && number(token, 1, 2).is_some() {
            day = number(token, 1, 2);
        } else if month.is_none() && month_of(token).is_some() {
            month = month_of(token);
        } else if year.is_none() {
            year = number(token, 2, 4);
        }
    }
    let year = match year? {
        short @ 70..=99 => short + 1900,
        short @ 0..=69 => short + 2000,
        long => long,
    };
    let (day, month, time) = (day?, month?, time?);
    let right = year >= 1601 && (1..=days_in(month, year)).contains(&day);
    right.then(|| days_since_1970(year, month, day) * 86_400 + time)
}

/// Appends `seconds` since 1970 as an IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn write(seconds: i64, out: &mut Vec<u8>) {
    const DAYS: [&[u8; 5]; 7] = [b"Thu, ", b"Fri, ", b"Sat, ", b"Sun, ", b"Mon, ", b"Tue, ", b"Wed, "];
    const NAMES: [&[u8; 5]; 12] = [
        b" Jan ", b" Feb ", b" Mar ", b" Apr ", b" May ", b" Jun ", b" Jul ", b" Aug ", b" Sep ", b" Oct ",
        b" Nov ", b" Dec ",
    ];
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date_of_day(days);
    out.extend_from_slice(DAYS[days.rem_euclid(7) as usize]);
    two_digits(day, out);
    out.extend_from_slice(NAMES[(month - 1) as usize]);
    two_digits(year.div_euclid(100), out);
    two_digits(year.rem_euclid(100), out);
    for (part, before) in [(second / 3600, b' '), (second / 60 % 60, b':'), (second % 60, b':')] {
        out.push(before);
        two_digits(part, out);
    }
    out.extend_from_slice(b" GMT");
}

fn two_digits(number: i64, out: &mut Vec<u8>) {
    out.extend([b'0' + (number / 10 % 10) as u8, b'0' + (number % 10) as u8]);
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, 0x09 | 0x20..=0x2F | 0x3B..=0x40 | 0x5B..=0x60 | 0x7B..=0x7E)
}

/// The number at the beginning of `token` when it has that number of digits.
fn number(token: &[u8], min: usize, max: usize) -> Option<i64> {
    let digits = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = token.iter().take(digits.min(max)).fold(0, |sum, byte| sum * 10 + i64::from(byte - b'0'));
    (min..=max).contains(&digits).then_some(value)
}

/// Hours, minutes and seconds, as seconds.
fn hms(token: &[u8]) -> Option<i64> {
    let mut parts = token.splitn(3, |byte| *byte == b':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let whole = |part: &[u8]| part.iter().all(u8::is_ascii_digit).then(|| number(part, 1, 2)).flatten();
    let (hours, minutes, seconds) = (whole(hours)?, whole(minutes)?, number(seconds, 1, 2)?);
    (hours < 24 && minutes < 60 && seconds < 60).then_some(hours * 3600 + minutes * 60 + seconds)
}

fn month_of(token: &[u8]) -> Option<i64> {
    let name = token.get(..3)?;
    MONTHS.iter().position(|month| month.eq_ignore_ascii_case(name)).map(|index| index as i64 + 1)
}

fn days_in(month: i64, year: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_forms_of_one_date_are_read() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "6 november 1994 8:49:37",
            "08:49:37 1994 Nov 6",
        ] {
            assert_eq!(parse(text.as_bytes()), Some(784_111_777), "{text}");
        }
        assert_eq!(parse(b"Thu, 01-Jan-1970 00:00:01 GMT"), Some(1));
        assert_eq!(parse(b"Tue, 29 Feb 2000 00:00:00 GMT"), Some(951_782_400));
        assert_eq!(parse(b"Fri, 31-Dec-2038 23:59:59 GMT"), Some(2_177_452_799));
    }

    #[test]
    fn what_is_not_a_date_is_none() {
        for text in [
            "",
            "0",
            "-1",
            "Sun, 06 Nov 1994",
            "30 Feb 2000 00:00:00",
            "29 Feb 1900 00:00:00",
            "06 Nov 1994 24:00:00",
            "06 Nov 1994 08:60:00",
            "06 Nov 1600 08:49:37",
            "06 Nov 19945 08:49:37",
            "006 Nov 1994 08:49:37",
            "06 Now 1994 08:49:37",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_date_that_is_written_reads_back_the_same(seconds in -11_644_473_600i64..253_402_300_799) {
            let mut text = Vec::new();
            write(seconds, &mut text);
            prop_assert_eq!(parse(&text), Some(seconds), "{}", String::from_utf8_lossy(&text));
        }

        #[test]
        fn no_bytes_make_a_panic(text in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = parse(&text);
        }
    }

    #[test]
    fn a_date_is_written_as_an_imf_fixdate() {
        let mut text = Vec::new();
        write(784_111_777, &mut text);
        assert_eq!(text, b"Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
