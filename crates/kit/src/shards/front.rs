//! A table as a server has it that finds the rows on others: from what `SHOW CREATE TABLE` says of the table with the rows.

use super::IN_A_ROW;

/// The statement that makes it; `key` is the column that says on which of `of` servers a row is, nothing for a table that is on the
/// first one.
///
/// # Errors
/// What of it can't be had there.
pub(super) fn table(text: &str, name: &str, key: Option<&str>, of: usize) -> Result<String, String> {
    let (head, rest) = text.split_once('\n').ok_or("its description has one line")?;
    let (body, tail) = rest.rsplit_once("\n)").ok_or("its description has no end")?;
    let mut parts = Vec::new();
    for line in body.lines() {
        parts.extend(part(line.trim().trim_end_matches(','), key)?);
    }
    if let Some(key) = key.filter(|key| !parts.iter().any(|part| part.starts_with(&format!("`{key}` ")))) {
        return Err(format!("it has no column {key}"));
    }
    let options: Vec<&str> = tail.split_whitespace().filter(|word| is_kept(word)).collect();
    let place = match key {
        None => format!("COMMENT='wrapper \"mysql\", table \"{name}\", srv \"shard1\"'"),
        Some(key) => {
            let partition = |number: usize| {
                let nth = number + 1;
                format!("PARTITION p{nth} VALUES IN ({number}) COMMENT = 'srv \"shard{nth}\"'")
            };
            let partitions: Vec<String> = (0..of).map(partition).collect();
            format!(
                "COMMENT='wrapper \"mysql\", table \"{name}\"'\nPARTITION BY LIST (MOD(`{key}` DIV {IN_A_ROW}, {of}))\n({})",
                partitions.join(",\n ")
            )
        }
    };
    Ok(format!("{head}\n  {}\n) ENGINE=SPIDER {} {place}", parts.join(",\n  "), options.join(" ")))
}

/// A column or an index, as it can be there; nothing for a foreign key.
fn part(line: &str, key: Option<&str>) -> Result<Option<String>, String> {
    let has_key =
        |key: &str| line.split_once(" (").is_some_and(|(_, columns)| columns.contains(&format!("`{key}`")));
    let lacks_key = key.is_some_and(|key| !has_key(key));
    match line.split_whitespace().next() {
        Some("CONSTRAINT") if line.contains(" FOREIGN KEY ") => Ok(None),
        Some("FULLTEXT" | "SPATIAL") => Err(format!("Spider has no index of that kind: {line}")),
        Some("PRIMARY") if lacks_key => {
            Err(format!("{} is not part of its primary key: {line}", key.unwrap_or_default()))
        }
        // No server sees all rows: that one is alone is for whoever writes it to see to.
        Some("UNIQUE") if lacks_key => Ok(Some(line.replacen("UNIQUE KEY", "KEY", 1))),
        _ => Ok(Some(line.to_string())),
    }
}

/// Whether a word of what stands behind the columns goes for the table without rows, too.
fn is_kept(word: &str) -> bool {
    word == "DEFAULT" || word.starts_with("CHARSET=") || word.starts_with("COLLATE=")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: &str = "CREATE TABLE `ORDERS` (\n  `o_id` int(11) NOT NULL AUTO_INCREMENT,\n  `o_name` varchar(10) NOT NULL,\n  \
                          `o_c_id` int(11) NOT NULL,\n  PRIMARY KEY (`o_id`),\n  UNIQUE KEY `BY_NAME` (`o_name`),\n  \
                          UNIQUE KEY `BOTH` (`o_name`,`o_id`),\n  KEY `BY_CUSTOMER` (`o_c_id`),\n  \
                          CONSTRAINT `OF_CUSTOMER` FOREIGN KEY (`o_c_id`) REFERENCES `CUSTOMER` (`c_id`)\n) ENGINE=InnoDB \
                          AUTO_INCREMENT=129601 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC";

    #[test]
    fn a_table_that_is_shared_out_has_a_partition_for_each_server_and_no_foreign_key() {
        let made = table(ORDERS, "ORDERS", Some("o_id"), 2).expect("it can be shared out");
        let expected = "CREATE TABLE `ORDERS` (\n  `o_id` int(11) NOT NULL AUTO_INCREMENT,\n  `o_name` varchar(10) NOT NULL,\n  \
                        `o_c_id` int(11) NOT NULL,\n  PRIMARY KEY (`o_id`),\n  KEY `BY_NAME` (`o_name`),\n  \
                        UNIQUE KEY `BOTH` (`o_name`,`o_id`),\n  KEY `BY_CUSTOMER` (`o_c_id`)\n) ENGINE=SPIDER DEFAULT \
                        CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='wrapper \"mysql\", table \"ORDERS\"'\n\
                        PARTITION BY LIST (MOD(`o_id` DIV 16, 2))\n(PARTITION p1 VALUES IN (0) COMMENT = 'srv \"shard1\"',\n \
                        PARTITION p2 VALUES IN (1) COMMENT = 'srv \"shard2\"')";
        assert_eq!(made, expected);
    }

    #[test]
    fn a_table_that_is_not_shared_out_is_on_the_first_server_with_all_its_indexes() {
        let made = table(ORDERS, "ORDERS", None, 3).expect("it is on one server");
        assert!(made.contains("UNIQUE KEY `BY_NAME`") && !made.contains("PARTITION"), "{made}");
        assert!(made.ends_with("COMMENT='wrapper \"mysql\", table \"ORDERS\", srv \"shard1\"'"), "{made}");
    }

    #[test]
    fn what_can_not_be_had_there_is_said() {
        let refused = |text: &str, key| table(text, "ORDERS", Some(key), 2).expect_err("it can't be");
        assert_eq!(refused(ORDERS, "o_c_id"), "o_c_id is not part of its primary key: PRIMARY KEY (`o_id`)");
        assert!(
            refused(&ORDERS.replace("  PRIMARY KEY (`o_id`),\n", ""), "o_x").starts_with("it has no column")
        );
        let searched = ORDERS.replace("UNIQUE KEY `BY_NAME`", "FULLTEXT KEY `BY_NAME`");
        assert!(refused(&searched, "o_id").contains("FULLTEXT KEY `BY_NAME`"));
    }
}
