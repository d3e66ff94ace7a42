-- What must hold in the database after a run, by what the users were told.
--
-- The session counts `registered` (the new person's page came), `posted` (the new event's page came) and `attended` (the
-- answer of addAttendee.php had X-Attendance: new). An operation without an answer (timed out, failed, cut off at the
-- end) may have been done or not: it widens a range.

local function base(column) return query("SELECT " .. column .. " FROM BASELINE") end

local function since(table, column, last)
  return query(string.format("SELECT COUNT(*) FROM %s WHERE %s > %d", table, column, last))
end

local last_person, last_event = base "LAST_PERSON", base "LAST_EVENT"
local registered, posted = counters.registered, counters.posted
local most_registered, most_posted = registered + unanswered.AddPerson, posted + unanswered.AddEvent

local persons, events = since("PERSON", "userid", last_person), since("SOCIALEVENT", "socialeventid", last_event)
expect("new persons = registrations", persons, registered, most_registered)
expect("new events = posted events", events, posted, most_posted)
expect("new addresses = new persons and events", since("ADDRESS", "addressid", base "LAST_ADDRESS"), persons + events)
expect("new events without an address", query(string.format([[
  SELECT COUNT(*) FROM SOCIALEVENT E LEFT JOIN ADDRESS A ON A.addressid = E.ADDRESS_addressid
  WHERE E.socialeventid > %d AND A.addressid IS NULL]], last_event)), 0)
expect("new persons without an address", query(string.format([[
  SELECT COUNT(*) FROM PERSON P LEFT JOIN ADDRESS A ON A.addressid = P.ADDRESS_addressid
  WHERE P.userid > %d AND A.addressid IS NULL]], last_person)), 0)
expect("new persons without a thumbnail",
  query(string.format("SELECT COUNT(*) FROM PERSON WHERE userid > %d AND imagethumburl = ''", last_person)), 0)
expect("new events without a thumbnail or leaflet", query(string.format([[
  SELECT COUNT(*) FROM SOCIALEVENT WHERE socialeventid > %d AND '' IN (imagethumburl, literatureurl)]], last_event)), 0)

-- Who posts an event attends it.
local attendance = query "SELECT COUNT(*) FROM PERSON_SOCIALEVENT" - base "ATTENDANCE"
expect("new attendances = those that users were told of, and one for each new event", attendance - events,
  counters.attended, counters.attended + unanswered.EventDetail)
expect("new events that their poster does not attend", query(string.format([[
  SELECT COUNT(*) FROM SOCIALEVENT E LEFT JOIN PERSON_SOCIALEVENT A
    ON A.socialeventid = E.socialeventid AND A.username = E.submitterUserName
  WHERE E.socialeventid > %d AND A.username IS NULL]], last_event)), 0)

-- A tag's count is that of its links; each new event has at least one.
expect("links of tags rose as the counts of tags did",
  query "SELECT SUM(refcount) FROM SOCIALEVENTTAG" - base "REFERENCES_OF_TAGS",
  query "SELECT COUNT(*) FROM SOCIALEVENTTAG_SOCIALEVENT" - base "LINKS")
expect("new events without a tag", query(string.format([[
  SELECT COUNT(*) FROM SOCIALEVENT E LEFT JOIN SOCIALEVENTTAG_SOCIALEVENT L USING (socialeventid)
  WHERE E.socialeventid > %d AND L.socialeventtagid IS NULL]], last_event)), 0)

expect("new comments = comments that users were told of", since("COMMENTS_RATING", "commentid", base "LAST_COMMENT"),
  counters.commented, counters.commented)
