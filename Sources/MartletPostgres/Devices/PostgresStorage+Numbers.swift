import MartletCore
import MartletModel

/// Translates between values and the numbers that stand for them in rows. Known numbers come from the cache, all others
/// from the database.
extension PostgresStorage {
    /// Returns the numbers of platforms, and gives a number to those that have none.
    func numbers(of platforms: some Sequence<PlatformID>) async throws(StorageError) -> [PlatformID: Int32] {
        var found: [PlatformID: Int32] = [:]
        for id in Set(platforms) {
            if let number = try await number(of: id) {
                found[id] = number
                continue
            }
            let given = try await platformNumbering?(id)
            try await transaction { connection, patience throws(DatabaseFailure) in
                let batch =
                    given.map { number in
                        Batch(NumberStatements.addPlatform) {
                            $0.add(number)
                            $0.add(id.rawValue)
                        }
                    } ?? Batch(NumberStatements.makePlatform) { $0.add(id.rawValue) }
                _ = try connection.run(batch, patience)
            }
            guard let number = try await number(of: id) else {
                throw StorageError(.corrupt, "The database forgot a platform; restore a backup.")
            }
            found[id] = number
        }
        return found
    }

    /// Returns the number of a platform; nil if the platform has no number yet.
    func number(of platform: PlatformID) async throws(StorageError) -> Int32? {
        if let known = cache.platform(platform) { return known }
        return try await allPlatforms().first { $0.id == platform }?.number
    }

    func platform(_ number: Int32) async throws(StorageError) -> PlatformID {
        if let known = cache.platform(number) { return known }
        guard let found = try await allPlatforms().first(where: { $0.number == number }) else {
            throw StorageError(.corrupt, "A registration has an unknown platform; restore a backup.")
        }
        return found.id
    }

    func allPlatforms() async throws(StorageError) -> [StoredPlatform] {
        let rows = try await read(Batch(NumberStatements.platforms))[0]
        let platforms = (0..<rows.count).map { index in
            StoredPlatform(number: rows[index].integer32(0), id: PlatformID(rawValue: rows[index].text(1)))
        }
        cache.add(platforms)
        return platforms
    }

    /// Returns the numbers of tags. Tags that no registration has ever had are left out.
    func numbers(of tags: Set<TagKey>, in shard: Shard) async throws(StorageError) -> [TagKey: Int64] {
        var known: [TagKey: Int64] = [:]
        var unknown: [TagKey] = []
        for key in tags {
            if let id = cache.tag(key) { known[key] = id } else { unknown.append(key) }
        }
        guard !unknown.isEmpty else { return known }
        let batch = Batch(DeviceReads.tagsByName) {
            $0.add(shard.number)
            $0.add(unknown.map(\.scope.number))
            $0.add(unknown.map(\.name))
        }
        let rows = try await read(batch)[0]
        let found = (0..<rows.count).map { (key: unknown[Int(rows[$0].integer(0)) - 1], id: rows[$0].integer(1)) }
        cache.add(found)
        for (key, id) in found { known[key] = id }
        return known
    }

    /// Returns the names of tags.
    func names(of tags: Set<Int64>, in shard: Shard) async throws(StorageError) -> [Int64: String] {
        var names: [Int64: String] = [:]
        var unknown: [Int64] = []
        for id in tags {
            if let name = cache.tagName(id) { names[id] = name } else { unknown.append(id) }
        }
        guard !unknown.isEmpty else { return names }
        let batch = Batch(NumberStatements.tagNames) {
            $0.add(shard.number)
            $0.add(unknown)
        }
        let rows = try await read(batch)[0]
        for index in 0..<rows.count { names[rows[index].integer(0)] = rows[index].text(1) }
        return names
    }

    /// Returns encoded templates and push variables by their ids. Those that no longer exist are left out.
    func contents(_ ids: Set<Int64>, in shard: Shard) async throws(StorageError) -> [Int64: [UInt8]] {
        guard !ids.isEmpty else { return [:] }
        let batch = Batch(NumberStatements.contents) {
            $0.add(shard.number)
            $0.add(Array(ids))
        }
        let rows = try await read(batch)[0]
        var contents: [Int64: [UInt8]] = [:]
        for index in 0..<rows.count { contents[rows[index].integer(0)] = rows[index].bytes(1) }
        return contents
    }

    /// Returns registrations with their tags, templates and push variables, which rows only refer to by number.
    func registrations(
        _ stored: [StoredRegistration], in shard: Shard
    ) async throws(StorageError) -> [Registration] {
        let names = try await names(of: Set(stored.flatMap(\.tags)), in: shard)
        let contents = try await contents(
            Set(stored.flatMap { [$0.template, $0.variables].compactMap(\.self) }), in: shard)
        var found: [Registration] = []
        for row in stored {
            let platform = try await platform(row.scope.platform)
            found.append(try Registration(row, platform: platform, tags: names, contents: contents))
        }
        return found
    }
}

extension Registration {
    /// - Throws: `StorageError` if a number of the row stands for no tag, template or push variables.
    init(
        _ row: StoredRegistration, platform: PlatformID, tags names: [Int64: String], contents: [Int64: [UInt8]]
    ) throws(StorageError) {
        var template: Template?
        if let id = row.template {
            guard let bytes = contents[id] else { throw ContentCoding.unreadable }
            template = try ContentCoding.template(bytes)
        }
        var variables: [String: String] = [:]
        if let id = row.variables {
            guard let bytes = contents[id] else { throw ContentCoding.unreadable }
            variables = try ContentCoding.variables(bytes)
        }
        self.init(
            id: row.id, platform: platform, handle: PushHandle(text: row.handle),
            tags: try StoredTags.tags(row.tags, spelled: row.spelledTags, names), template: template,
            pushVariables: variables, secondaryTile: row.secondaryTile, installation: row.row?.id,
            version: row.version, expiresAt: row.expiresAt, createdAt: row.createdAt, updatedAt: row.updatedAt)
    }
}

/// Decodes the tags of a row. The row has the numbers of the tags. If a tag is not spelled in lower case, the row also
/// has the spellings of all its tags.
enum StoredTags {
    static func tags(
        _ ids: [Int64], spelled: String?, _ names: [Int64: String]
    ) throws(StorageError) -> [Tag] {
        let texts = spelled?.split(separator: ",").map(String.init) ?? ids.map { names[$0] ?? "" }
        var tags: [Tag] = []
        for text in texts {
            do throws(TagError) {
                tags.append(try Tag(text))
            } catch {
                throw StorageError(.corrupt, "A stored registration has a tag that is none; restore a backup.")
            }
        }
        return tags
    }
}

enum NumberStatements {
    static let platforms = Statement.rare([], "SELECT number, name FROM platforms")
    static let makePlatform = Statement.rare(
        [.text], "INSERT INTO platforms (name) VALUES ($1) ON CONFLICT (name) DO NOTHING")
    static let addPlatform = Statement.rare(
        [.int4, .text],
        """
        INSERT INTO platforms (number, name) OVERRIDING SYSTEM VALUE VALUES ($1, $2) ON CONFLICT DO NOTHING
        """)
    static let tagNames = Statement.hot(
        [.int4, .int8s], "SELECT id, name FROM tags WHERE shard = $1 AND id = ANY($2)")
    static let contents = Statement.hot(
        [.int4, .int8s], "SELECT id, content FROM contents WHERE shard = $1 AND id = ANY($2)")
}
