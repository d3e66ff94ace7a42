//! Calls of the web page: JSON, as the kit's own front answers them.

use serde_json::{Value as Json, json};

use super::{Asked, DavServer, answer};

impl DavServer {
    pub(super) fn call(&mut self, asked: &Asked<'_>, user: &str) -> Vec<u8> {
        let call: Json = serde_json::from_str(asked.body).expect("a call is JSON");
        let place = format!("{}calendar/", self.home(user));
        let params = &call["params"];
        let result = match call["method"].as_str() {
            Some("getCalendars") => json!([{ "calendar": "calendar" }]),
            Some("getEvents") if params["calendar"] == "calendar" => self.events(&place),
            Some("saveEvent") if params["calendar"] == "calendar" => {
                match self.save(&place, &params["event"]) {
                    Ok(saved) => saved,
                    Err(status) => return answer(status, "", ""),
                }
            }
            _ => panic!("{} is nothing that the page asks for", asked.body),
        };
        let body = json!({ "id": call["id"], "result": result, "error": null }).to_string();
        answer(200, "Content-Type: application/json\r\n", &body)
    }

    /// A few events.
    fn events(&self, place: &str) -> Json {
        let own = self.objects.iter().filter(|(path, _)| path.starts_with(place));
        let events = own.filter(|(_, (_, text))| text.contains("BEGIN:VEVENT")).take(3);
        let told = events.map(|(path, (etag, _))| json!({ "uri": path[place.len()..], "etag": etag }));
        Json::Array(told.collect())
    }

    /// A new event, or one that is there and has the tag that is told.
    fn save(&mut self, place: &str, event: &Json) -> Result<Json, u16> {
        let text = |name: &str| event[name].as_str().unwrap_or_else(|| panic!("no {name} in {event}"));
        assert!(!text("summary").contains('\\') && text("start") < text("end"), "{event}");
        let uri = match event["uri"].as_str() {
            Some(uri) => {
                let (etag, _) = self.objects.get(&format!("{place}{uri}")).ok_or(404_u16)?;
                if event["etag"] != etag.as_str() {
                    return Err(412);
                }
                uri.to_string()
            }
            None => format!("{:032x}.ics", self.changes + 1),
        };
        let uid = uri.trim_end_matches(".ics");
        let object =
            format!("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n");
        let etag = self.keep(&format!("{place}{uri}"), &object);
        Ok(json!({ "uri": uri, "etag": etag }))
    }
}
