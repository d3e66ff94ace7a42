//! The heads of answers, and dates as HTTP writes them (RFC 9110, 5.6.7).

use std::time::{SystemTime, UNIX_EPOCH};

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// What an answer's head says.
pub struct Answer<'a> {
    pub status: u16,
    pub kind: &'a str,
    /// Bytes of the body.
    pub length: u64,
    pub modified_s: Option<i64>,
    pub keep: bool,
}

impl Answer<'_> {
    /// The head; `date` is now as [`http_date`] writes it.
    pub fn head(&self, date: &str) -> Vec<u8> {
        let Answer { status, kind, length, .. } = *self;
        let reason = reason(status);
        let mut text = format!("HTTP/1.1 {status} {reason}\r\nServer: flash\r\nDate: {date}\r\n");
        if status != 304 {
            text += &format!("Content-Type: {kind}\r\nContent-Length: {length}\r\n");
        }
        if let Some(time_s) = self.modified_s {
            text += &format!("Last-Modified: {}\r\n", http_date(time_s));
        }
        if status == 405 {
            text += "Allow: GET, HEAD\r\n";
        }
        text += if self.keep { "Connection: keep-alive\r\n\r\n" } else { "Connection: close\r\n\r\n" };
        text.into_bytes()
    }
}

pub fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        304 => "Not Modified",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

/// The media type by a path's ending.
pub fn kind(path: &[u8]) -> &'static str {
    let ending = path.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    match ending {
        b"html" | b"htm" => "text/html",
        b"css" => "text/css",
        b"js" => "text/javascript",
        b"json" => "application/json",
        b"txt" => "text/plain",
        b"png" => "image/png",
        b"gif" => "image/gif",
        b"jpg" | b"jpeg" => "image/jpeg",
        b"svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

pub fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

/// Unix time as `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn http_date(time_s: i64) -> String {
    let (days, second) = (time_s.div_euclid(86_400), time_s.rem_euclid(86_400));
    // Years of 400-year cycles that begin in March: the day that some years lack comes last.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = (month + 2) % 12;
    let year = year + era * 400 + i64::from(month < 2);
    let (name, month) = (DAYS[days.rem_euclid(7) as usize], MONTHS[month as usize]);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{name}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

/// The Unix time of a date as [`http_date`] writes it; `None` for any other form.
pub fn unix_time(text: &[u8]) -> Option<i64> {
    let words: Vec<&str> = std::str::from_utf8(text).ok()?.split([' ', ':']).collect();
    let [_, day, month, year, hour, minute, second, "GMT"] = words[..] else { return None };
    let number = |text: &str| text.parse::<u16>().ok().map(i64::from);
    let month = MONTHS.iter().position(|name| *name == month)? as i64;
    let (from_march, year) = ((month + 10) % 12, number(year)? - i64::from(month < 2));
    let of_year = (153 * from_march + 2) / 5 + number(day)? - 1;
    let days =
        year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468;
    Some(days * 86_400 + number(hour)? * 3600 + number(minute)? * 60 + number(second)?)
}
