//! Who waits for rows that somebody else has locked: by InnoDB's tables of transactions and of the locks that somebody waits for.
//!
//! The two are asked for, and not `INNODB_LOCK_WAITS`: that has a row for each of those who wait and each before it in the
//! queue, and so thousands where a hundred wait for one row.

use std::collections::BTreeMap;

use mysql::Row;

/// What is open. The client's number tells what it is in.
pub(super) const TRANSACTIONS: &str = "SELECT trx_id, trx_mysql_thread_id AS client, trx_requested_lock_id AS wants FROM information_schema.INNODB_TRX";
/// Locks that somebody waits for, those of the ones who wait included.
pub(super) const LOCKS: &str = "SELECT lock_id, lock_trx_id AS trx_id, lock_table, \
     CONCAT_WS(':', lock_table, lock_index, lock_page, lock_rec) AS place FROM information_schema.INNODB_LOCKS";

/// A transaction that is open.
#[derive(Debug)]
pub(super) struct Transaction {
    id: String,
    client: u64,
    /// The lock that it waits for.
    wants: Option<String>,
}

/// A lock that is held, or waited for.
#[derive(Debug)]
pub(super) struct Lock {
    id: String,
    transaction: String,
    table: String,
    /// The row; of a lock of a whole table the table.
    place: String,
}

/// A client that waits, and the one that it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) client: u64,
    /// `shop.products`.
    pub(super) table: String,
    pub(super) holder: u64,
}

impl Transaction {
    pub(super) fn of(row: Row) -> Option<Transaction> {
        Some(Transaction {
            id: text(&row, "trx_id")?,
            client: text(&row, "client")?.parse().ok()?,
            wants: text(&row, "wants"),
        })
    }
}

impl Lock {
    pub(super) fn of(row: Row) -> Option<Lock> {
        Some(Lock {
            id: text(&row, "lock_id")?,
            transaction: text(&row, "trx_id")?,
            table: text(&row, "lock_table")?.replace('`', ""),
            place: text(&row, "place")?,
        })
    }
}

fn text(row: &Row, name: &str) -> Option<String> {
    row.get_opt::<Option<String>, _>(name)?.ok().flatten()
}

/// Each client that waits, with the one that holds the row: of several the first. One that waits itself, for another row, holds
/// what it has.
pub(super) fn waiting(transactions: &[Transaction], locks: &[Lock]) -> Vec<Waiting> {
    let clients: BTreeMap<&str, &Transaction> =
        transactions.iter().map(|transaction| (transaction.id.as_str(), transaction)).collect();
    let by_id: BTreeMap<&str, &Lock> = locks.iter().map(|lock| (lock.id.as_str(), lock)).collect();
    let mut holders: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for lock in locks {
        let Some(owner) = clients.get(lock.transaction.as_str()) else { continue };
        if owner.wants.as_deref() != Some(&lock.id) {
            holders.entry(&lock.place).or_default().push(owner.client);
        }
    }
    let waits = |transaction: &Transaction| {
        let lock = by_id.get(transaction.wants.as_deref()?)?;
        let holders = holders.get(lock.place.as_str())?;
        // It may have read the row that it wants to change, as others have.
        let holder = *holders.iter().find(|holder| **holder != transaction.client)?;
        Some(Waiting { client: transaction.client, table: lock.table.clone(), holder })
    };
    transactions.iter().filter_map(waits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transaction(id: &str, client: u64, wants: Option<&str>) -> Transaction {
        Transaction { id: id.into(), client, wants: wants.map(Into::into) }
    }

    fn lock(id: &str, transaction: &str, place: &str) -> Lock {
        Lock {
            id: id.into(),
            transaction: transaction.into(),
            table: "shop.stock".into(),
            place: place.into(),
        }
    }

    #[test]
    fn all_that_queue_for_a_row_wait_for_the_one_that_has_it_and_who_waits_itself_holds_what_it_has() {
        let transactions = [
            transaction("1", 11, None),
            transaction("2", 12, Some("2:a")),
            transaction("3", 13, Some("3:a")),
            transaction("4", 14, Some("4:b")),
            transaction("5", 15, None),
        ];
        let locks = [
            lock("3:a", "3", "a"),
            lock("2:a", "2", "a"),
            lock("1:a", "1", "a"),
            lock("4:b", "4", "b"),
            lock("2:b", "2", "b"),
        ];
        let found = waiting(&transactions, &locks);
        let pairs: Vec<(u64, u64)> = found.iter().map(|one| (one.client, one.holder)).collect();
        assert_eq!(pairs, [(12, 11), (13, 11), (14, 12)], "{found:?}");
        assert!(found.iter().all(|one| one.table == "shop.stock"));
    }

    #[test]
    fn who_has_read_a_row_and_wants_to_change_it_waits_for_the_others_that_have_read_it() {
        let transactions = [transaction("1", 11, Some("1:x")), transaction("2", 12, None)];
        let locks = [lock("1:s", "1", "a"), lock("2:s", "2", "a"), lock("1:x", "1", "a")];
        let holder = waiting(&transactions, &locks).first().map(|one| one.holder);
        assert_eq!(holder, Some(12));
    }

    #[test]
    fn one_whose_holder_is_gone_by_the_second_question_waits_for_nobody() {
        let transactions = [transaction("2", 12, Some("2:a"))];
        assert_eq!(waiting(&transactions, &[lock("2:a", "2", "a")]), []);
        assert_eq!(waiting(&transactions, &[lock("1:a", "1", "a"), lock("2:a", "2", "a")]), []);
        assert_eq!(waiting(&transactions, &[]), []);
    }
}
