import MartletCore

/// The statements on payloads, their addressees and receipts.
///
/// All transactions take their locks in this order: the row of an addressee, the row of the payload, the row of its
/// text, and last the total of its sender. The only exception is the addition of a payload. It locks the total first,
/// and locks no other existing row.
enum PayloadStatements {
    // MARK: Sending

    /// Locks the total of a sender. Makes the total if there is none.
    static let lockTotal = Statement.rare(
        [.bytes],
        """
        INSERT INTO payload_totals AS t (sender, size) VALUES ($1, 0) ON CONFLICT (sender) DO UPDATE SET size = t.size
        """)
    /// Returns the sender's total without expired payloads. Expired payloads are few, because they are removed soon.
    static let liveSize = Statement.rare(
        [.bytes, .int8],
        """
        SELECT coalesce((SELECT t.size FROM payload_totals t WHERE t.sender = $1), 0)
            - coalesce((SELECT sum(p.size + \(StoredPayload.recordSize))::int8 FROM payloads p
                WHERE p.sender = $1 AND p.expires_at <= $2), 0)
        """)
    static let insert = Statement.rare(
        [.int4, .text, .bytes, .bytes, .bytes, .bytes, .bytes, .int8, .bool, .bytes, .int8, .int8],
        """
        INSERT INTO payloads (id, kind, sender, type, content_type, message, body, size, is_once, device, created_at,
            expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO NOTHING
        """)
    static let insertText = Statement.rare(
        [.int4, .bytes], "INSERT INTO payload_texts (payload, sealed) VALUES ($1, $2)")
    static let count = Statement.rare(
        [.bytes, .int8], "UPDATE payload_totals SET size = size + $2 WHERE sender = $1")
    static let forgetEmptyTotal = Statement.rare(
        [.bytes], "DELETE FROM payload_totals WHERE sender = $1 AND size <= 0")

    static let lock = Statement.rare([.int4], "SELECT 1 FROM payloads WHERE id = $1 FOR UPDATE")
    static let addAddressees = Statement.rare(
        [.int4, .bytesArray],
        """
        WITH added AS (
            INSERT INTO addressees (payload, user_name)
            SELECT p.id, u.name FROM payloads p, unnest($2) u (name) WHERE p.id = $1 AND NOT p.is_published
            ON CONFLICT (payload, user_name) DO NOTHING RETURNING 1
        )
        UPDATE payloads SET unread = unread + (SELECT count(*) FROM added) WHERE id = $1
        """)
    static let publish = Statement.rare([.int4], "UPDATE payloads SET is_published = true WHERE id = $1")
    static let expire = Statement.rare([.int4], "UPDATE payloads SET expires_at = 0 WHERE id = $1")

    // MARK: Reading

    /// Locks the row of an addressee, so that several reads of one user at the same time run one after another.
    static let lockAddressee = Statement.rare(
        [.int4, .bytes], "SELECT 1 FROM addressees WHERE payload = $1 AND user_name = $2 FOR UPDATE")
    /// Always returns one row from the same look-ups, whether the payload exists or not, so that the duration of the
    /// query reveals nothing.
    static let find = Statement.rare(
        [.int4, .bytes],
        """
        SELECT p.kind, p.sender, p.type, p.content_type, p.message, p.body, p.size, p.is_once, p.device, p.created_at,
            p.expires_at, p.is_published, a.user_name IS NOT NULL, a.read_at, u.created_at, t.sealed
        FROM (SELECT 1) one LEFT JOIN payloads p ON p.id = $1
            LEFT JOIN addressees a ON a.payload = $1 AND a.user_name = $2
            LEFT JOIN users u ON u.folded_name = $2 LEFT JOIN payload_texts t ON t.payload = $1
        """)
    static let markRead = Statement.rare(
        [.int4, .bytes, .int8], "UPDATE addressees SET read_at = $3 WHERE payload = $1 AND user_name = $2")
    static let countRead = Statement.rare([.int4], "UPDATE payloads SET unread = unread - 1 WHERE id = $1")
    static let isSender = Statement.rare(
        [.int4, .bytes, .int8],
        """
        SELECT 1 FROM payloads p LEFT JOIN users u ON u.folded_name = $2
        WHERE p.id = $1 AND p.sender = $2 AND p.is_published AND p.expires_at > $3
            AND (u.created_at IS NULL OR u.created_at <= p.created_at)
        """)
    static let readers = Statement.rare(
        [.int4, .bytes, .int8],
        """
        SELECT user_name, read_at FROM addressees WHERE payload = $1 AND user_name > $2 ORDER BY user_name LIMIT $3
        """)

    // MARK: Texts

    private static func removingText(where condition: String) -> Statement {
        .rare(
            [.int4],
            """
            WITH removed AS (
                DELETE FROM payload_texts t USING payloads p WHERE t.payload = $1 AND p.id = $1 AND \(condition)
                RETURNING p.sender, p.size
            ), emptied AS (
                UPDATE payloads SET size = 0 WHERE id = $1 AND EXISTS (SELECT 1 FROM removed)
            )
            UPDATE payload_totals t SET size = t.size - r.size FROM removed r WHERE t.sender = r.sender
            """)
    }

    /// Removes a text, and subtracts its size from the sender's total.
    static let removeText = removingText(where: "true")
    /// Removes a text after its last addressee has read it.
    static let removeReadText = removingText(where: "p.unread = 0")

    // MARK: Receipts

    /// Stores a receipt if the user is an addressee and the payload is for all devices of the user or for this device.
    /// A receipt that is already stored is written again. Perhaps no standby has it yet, and only the COMMIT of a change
    /// waits for one.
    static let addReceipt = Statement.rare(
        [.int4, .bytes, .text, .bytes, .int8, .int8],
        """
        INSERT INTO payload_receipts (payload, device, event, user_name, at)
        SELECT p.id, $2, $3, a.user_name, $5
        FROM payloads p JOIN addressees a ON a.payload = p.id AND a.user_name = $4
            LEFT JOIN users u ON u.folded_name = a.user_name
        WHERE p.id = $1 AND p.is_published AND p.expires_at > $6 AND (p.device IS NULL OR p.device = $2)
            AND (u.created_at IS NULL OR u.created_at <= p.created_at)
        ON CONFLICT (payload, device, event) DO UPDATE SET at = payload_receipts.at
        """)
    static let receipts = Statement.rare(
        [.int4, .bytes, .text, .int8],
        """
        SELECT device, user_name, event, at FROM payload_receipts
        WHERE payload = $1 AND (device, event) > ($2, $3) ORDER BY device, event LIMIT $4
        """)
}

/// The statements on the audit log of payloads.
enum PayloadAuditStatements {
    static let insert = Statement.rare(
        [.int8, .int4, .bytes, .text, .bytes],
        "INSERT INTO payload_audit (at, payload, user_name, outcome, address) VALUES ($1, $2, $3, $4, $5)")

    private static func entries(where condition: String) -> Statement {
        .rare(
            [.int8, .int4, .bytes],
            """
            SELECT number, at, payload, user_name, outcome, address FROM payload_audit
            WHERE \(condition) ORDER BY number DESC LIMIT $1
            """)
    }

    static let all = entries(where: "true")
    static let ofPayload = entries(where: "payload = $2")
    static let ofUser = entries(where: "user_name = $3")
    static let ofPayloadAndUser = entries(where: "payload = $2 AND user_name = $3")

    /// Examines only the entries with the lowest numbers, because these entries are the oldest.
    static let removeOld = Statement.rare(
        [.int8, .int8],
        """
        DELETE FROM payload_audit WHERE at <= $1 AND number = ANY(ARRAY(
            SELECT number FROM payload_audit ORDER BY number LIMIT $2 FOR UPDATE SKIP LOCKED))
        """)
    /// Removes the oldest entries of refused reads. Only a limited number of them is kept, because anyone who tries out
    /// ids can cause any number of refused reads.
    static let removeRefusals = Statement.rare(
        [.int8, .int8],
        """
        DELETE FROM payload_audit WHERE number = ANY(ARRAY(
            SELECT number FROM payload_audit WHERE outcome = 'refused' AND number <= (
                SELECT number FROM payload_audit WHERE outcome = 'refused' ORDER BY number DESC LIMIT 1 OFFSET $1)
            ORDER BY number LIMIT $2 FOR UPDATE SKIP LOCKED))
        """)
}
