public import MartletCore
import MartletModel

/// Copying blobs and unfinished uploads.
extension PostgresMoveTarget {
    public func add(_ blob: MovedBlob, _ content: PieceReader) throws(StorageError) {
        let space = (blob.isOfPayloads ? BlobSpace.payloads : .jobs).rawValue
        if blob.kind == .container {
            return try MoveSession.attempt { () throws(DatabaseFailure) in
                try connection.run(ContainerStatements.create) {
                    $0.add(space)
                    $0.add(blob.container)
                }
            }
        }
        let id = try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run(Self.addContent) { $0.add(blob.kind == .upload ? blob.name : nil) }[0].integer(0)
        }
        var rest: [UInt8] = []
        var start: Int64 = 0
        func put(_ chunk: [UInt8]) throws(StorageError) {
            try MoveSession.attempt { () throws(DatabaseFailure) in
                try connection.run(ContainerStatements.putChunk) {
                    $0.add(id)
                    $0.add(start)
                    $0.add(chunk)
                }
            }
            start += Int64(chunk.count)
        }
        try content { piece throws(StorageError) in
            rest += piece
            while rest.count >= PostgresUpload.chunkSize {
                try put(Array(rest.prefix(PostgresUpload.chunkSize)))
                rest.removeFirst(PostgresUpload.chunkSize)
            }
        }
        if !rest.isEmpty { try put(rest) }
        guard blob.kind == .blob else { return }
        try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run(Self.addBlob) {
                $0.add(space)
                $0.add(blob.container)
                $0.add(blob.name)
                $0.add(id)
                $0.add(start)
                $0.add(blob.modifiedAt)
            }
        }
    }

    /// Adds a content. With a key, it is the content of an upload that a job has not finished, and is kept for a week.
    private static let addContent = Statement.rare(
        [.text],
        """
        INSERT INTO blob_contents (key, removable_at) SELECT $1, CASE WHEN $1 IS NOT NULL THEN
            (extract(epoch FROM clock_timestamp() + interval '7 days') * 1000)::int8 END
        RETURNING id
        """)
    private static let addBlob = Statement.rare(
        [.int4, .text, .bytes, .int8, .int8, .int8],
        """
        INSERT INTO blobs (space, container, name, content, size, modified_at) VALUES ($1, $2, $3, $4, $5, $6)
        """)
}
