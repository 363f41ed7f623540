import MartletCore

/// The statements on containers, blobs and their contents. A content is a row of `blob_contents` with its chunks: the
/// bytes of one blob or block. Times are those of the database's clock, so that all nodes use the same clock.
///
/// A transaction that adds, replaces or removes blobs of a container locks the container's row first.
enum ContainerStatements {
    private static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::int8"
    /// The time for which an upload or a block is kept after its last change, in milliseconds.
    private static let uploadTime = 7 * 86_400_000
    /// The time for which the content of a blob stays readable after the blob was replaced or deleted, in milliseconds.
    private static let readingTime = 900_000

    // MARK: Containers

    static let create = Statement.rare(
        [.int4, .text], "INSERT INTO containers (space, name) VALUES ($1, $2) ON CONFLICT (space, name) DO NOTHING")
    static let names = Statement.rare([.int4], "SELECT name FROM containers WHERE space = $1 ORDER BY name")
    static let exists = Statement.rare([.int4, .text], "SELECT 1 FROM containers WHERE space = $1 AND name = $2")
    static let lock = Statement.rare([.int4, .text], "\(exists.sql) FOR UPDATE")
    static let removeBlobs = Statement.rare(
        [.int4, .text],
        """
        WITH removed AS (DELETE FROM blobs WHERE space = $1 AND container = $2 RETURNING content)
        UPDATE blob_contents c SET removable_at = \(now) + \(readingTime) FROM removed r WHERE c.id = r.content
        """)
    static let removeAllBlocks = Statement.rare(
        [.int4, .text],
        """
        WITH removed AS (DELETE FROM blob_blocks WHERE space = $1 AND container = $2 RETURNING content)
        UPDATE blob_contents c SET removable_at = \(now) FROM removed r WHERE c.id = r.content AND c.removable_at > 0
        """)
    static let remove = Statement.rare([.int4, .text], "DELETE FROM containers WHERE space = $1 AND name = $2")

    // MARK: Blobs

    private static let address = "space = $1 AND container = $2 AND name = $3"

    /// Lists blobs. The third and fourth parameters bound the names that begin with a prefix: the lowest such name, and
    /// the first name after all of them. The fifth parameter is the name after which the listing begins.
    static let list = Statement.rare(
        [.int4, .text, .bytes, .bytes, .bytes, .int8],
        """
        SELECT name, content, size, modified_at FROM blobs
        WHERE space = $1 AND container = $2 AND name >= $3 AND name < $4 AND name > $5 ORDER BY name LIMIT $6
        """)
    static let find = Statement.rare(
        [.int4, .text, .bytes], "SELECT content, size, modified_at FROM blobs WHERE \(address)")
    /// Finds out whether a blob has one of the given names, or a name between two bounds.
    static let isTaken = Statement.rare(
        [.int4, .text, .bytesArray, .bytes, .bytes],
        """
        SELECT 1 FROM blobs WHERE space = $1 AND container = $2
            AND (name = ANY($3) OR (name >= $4 AND name < $5)) LIMIT 1
        """)
    /// Stores a blob with its content. If a blob has this name already, the old content becomes removable after
    /// `readingTime`.
    static let put = Statement.rare(
        [.int4, .text, .bytes, .int8, .int8],
        """
        WITH old AS (
            UPDATE blob_contents c SET removable_at = \(now) + \(readingTime)
            FROM blobs b WHERE b.space = $1 AND b.container = $2 AND b.name = $3 AND c.id = b.content
        )
        INSERT INTO blobs (space, container, name, content, size, modified_at) VALUES ($1, $2, $3, $4, $5, \(now))
        ON CONFLICT (space, container, name) DO UPDATE SET content = excluded.content, size = excluded.size,
            modified_at = excluded.modified_at
        RETURNING content, size, modified_at
        """)
    static let delete = Statement.rare(
        [.int4, .text, .bytes],
        """
        WITH removed AS (DELETE FROM blobs WHERE \(address) RETURNING content)
        UPDATE blob_contents c SET removable_at = \(now) + \(readingTime) FROM removed r WHERE c.id = r.content
        """)

    // MARK: Contents

    static let begin = Statement.rare(
        [], "INSERT INTO blob_contents (removable_at) VALUES (\(now) + \(uploadTime)) RETURNING id")
    /// Finds the content of a resumable upload by its key, or begins one.
    static let resume = Statement.rare(
        [.text],
        """
        INSERT INTO blob_contents AS c (key, removable_at) VALUES ($1, \(now) + \(uploadTime))
        ON CONFLICT (key) DO UPDATE SET removable_at = excluded.removable_at WHERE c.removable_at > 0 RETURNING c.id
        """)
    /// The last chunk that begins before an offset.
    static let chunkBefore = Statement.rare(
        [.int8, .int8],
        "SELECT start, data FROM blob_chunks WHERE content = $1 AND start < $2 ORDER BY start DESC LIMIT 1")
    static let cut = Statement.rare([.int8, .int8], "DELETE FROM blob_chunks WHERE content = $1 AND start >= $2")
    static let putChunk = Statement.rare(
        [.int8, .int8, .bytes],
        """
        INSERT INTO blob_chunks (content, start, data) VALUES ($1, $2, $3)
        ON CONFLICT (content, start) DO UPDATE SET data = excluded.data
        """)
    /// Extends the time for which a content that is being written is kept. Changes no row if the content is already
    /// being removed.
    static let keep = Statement.rare(
        [.int8],
        "UPDATE blob_contents SET removable_at = \(now) + \(uploadTime), key = key WHERE id = $1 AND removable_at > 0")
    /// Keeps a content for as long as a blob uses it. Changes no row if the content is already being removed.
    static let use = Statement.rare(
        [.int8], "UPDATE blob_contents SET removable_at = NULL, key = NULL WHERE id = $1 AND removable_at > 0")
    static let abandon = Statement.rare(
        [.int8], "UPDATE blob_contents SET removable_at = 1, key = NULL WHERE id = $1 AND removable_at > 0")
    /// Reads the bytes of a content from one offset up to another.
    static let read = Statement.rare(
        [.int8, .int8, .int8],
        """
        SELECT substring(c.data FROM greatest($2 - c.start, 0)::int4 + 1
            FOR greatest(least($3, c.start + length(c.data)) - greatest($2, c.start), 0)::int4)
        FROM blob_chunks c WHERE c.content = $1 AND c.start < $3 AND c.start >= coalesce(
            (SELECT max(p.start) FROM blob_chunks p WHERE p.content = $1 AND p.start <= $2), 0)
        ORDER BY c.start
        """)

    // MARK: Blocks

    static let putBlock = Statement.rare(
        [.int4, .text, .bytes, .bytes, .int8, .int8],
        """
        WITH old AS (
            UPDATE blob_contents c SET removable_at = 1 FROM blob_blocks b
            WHERE b.space = $1 AND b.container = $2 AND b.name = $3 AND b.id = $4 AND c.id = b.content
                AND c.removable_at > 0
        )
        INSERT INTO blob_blocks (space, container, name, id, content, size) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (space, container, name, id) DO UPDATE SET content = excluded.content, size = excluded.size
        RETURNING content, size, \(now)
        """)
    static let blocks = Statement.rare(
        [.int4, .text, .bytes, .bytesArray],
        """
        SELECT b.id, b.content, b.size FROM blob_blocks b JOIN blob_contents c ON c.id = b.content
        WHERE b.space = $1 AND b.container = $2 AND b.name = $3 AND b.id = ANY($4) AND c.removable_at > 0
        FOR UPDATE OF c
        """)
    /// Moves the chunks of blocks into the content of a blob. Their data is not copied.
    static let moveChunks = Statement.rare(
        [.int8, .int8s, .int8s],
        """
        UPDATE blob_chunks c SET content = $1, start = c.start + m.offset_
        FROM unnest($2, $3) m (content, offset_) WHERE c.content = m.content
        """)
    /// Copies parts of a content to later offsets of the same content, for a block that a list contains more than once.
    static let repeatChunks = Statement.rare(
        [.int8, .int8s, .int8s, .int8s],
        """
        INSERT INTO blob_chunks (content, start, data)
        SELECT $1, c.start - m.first + m.target, c.data FROM unnest($2, $3, $4) m (first, size, target)
            JOIN blob_chunks c ON c.content = $1 AND c.start >= m.first AND c.start < m.first + m.size
        """)
    static let removeBlocks = Statement.rare(
        [.int4, .text, .bytes],
        """
        WITH removed AS (DELETE FROM blob_blocks WHERE \(address) RETURNING content)
        UPDATE blob_contents c SET removable_at = 1 FROM removed r WHERE c.id = r.content AND c.removable_at > 0
        """)

    // MARK: Sweeping

    /// Removes payload bodies that are older than a day and belong to no payload, because the process that wrote them
    /// ended before it stored the payload. Their contents become removable at once.
    static let releaseBodies = Statement.rare(
        [],
        """
        WITH removed AS (
            DELETE FROM blobs b WHERE b.space = \(BlobSpace.payloads.rawValue) AND b.modified_at <= \(now) - 86400000
                AND NOT EXISTS (SELECT 1 FROM payloads p WHERE p.body = b.name)
            RETURNING b.content
        )
        UPDATE blob_contents c SET removable_at = 1 FROM removed r WHERE c.id = r.content
        """)
    static let claim = Statement.rare(
        [],
        "UPDATE blob_contents SET removable_at = -1, key = NULL WHERE removable_at BETWEEN 0 AND \(now)")
    static let chunkLimit = 200
    static let removeChunks = Statement.rare(
        [],
        """
        DELETE FROM blob_chunks WHERE ctid = ANY(ARRAY(
            SELECT k.ctid FROM blob_contents c JOIN blob_chunks k ON k.content = c.id WHERE c.removable_at = -1
            LIMIT \(chunkLimit)))
        """)
    static let removeContents = Statement.rare([], "DELETE FROM blob_contents WHERE removable_at = -1")
}

/// The two sets of containers. A container of one set can have the same name as a container of the other.
enum BlobSpace: Int32, Sendable {
    case jobs = 0
    case payloads = 1
}
