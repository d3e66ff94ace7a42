expect("persons are not lost", query "SELECT COUNT(*) FROM PERSON", size.users)
