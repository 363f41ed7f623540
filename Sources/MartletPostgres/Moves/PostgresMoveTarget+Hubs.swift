import MartletCore
import MartletModel

/// Writing hubs, their settings and their last numbers.
extension PostgresMoveTarget {
    /// Writes the hubs, with the last numbers of each.
    func write(_ directory: MovedDirectory, _ numbers: MovedNumbers) throws(StorageError) {
        lastNumbers = numbers
        let coding = HubCoding(sealer: sealer)
        for hub in directory.hubs {
            guard hub.id.rawValue < Int64(Shard.limit) else {
                throw StorageError(
                    .unavailable, "A hub has a number above a million, for which PostgreSQL has no room.")
            }
            try checkRoom(for: numbers.ofHub[hub.id.rawValue] ?? [:], of: hub)
            let settings = try coding.encode(hub.settings, context: HubStatements.context(hub.id))
            try MoveSession.attempt { () throws(DatabaseFailure) in
                try insert(hub, settings, numbers.ofHub[hub.id.rawValue] ?? [:])
            }
        }
        let namespace =
            directory.rules.isEmpty
            ? nil : try coding.encode(directory.rules, context: HubStatements.namespaceContext)
        try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run(Self.setNamespace) {
                $0.add(namespace)
                $0.add(directory.backendHub?.rawValue)
            }
            for platform in directory.platforms {
                try connection.run(Self.addPlatform) { $0.add(platform.rawValue) }
            }
            try reader.readPlatforms()
        }
    }

    /// Throws an error if a hub has used more than half of the numbers that PostgreSQL has for it. The other half is left
    /// for what the hub will get after the move.
    private func checkRoom(for numbers: [MovedNumber: Int64], of hub: Hub) throws(StorageError) {
        let limits: [(MovedNumber, Int64)] = [
            (.tags, Int64(UInt32.max) / 2), (.notifications, Shard.numberMask / 2),
            (.deliveries, Shard.numberMask / 2),
        ]
        for (kind, limit) in limits where numbers[kind, default: 0] > limit {
            throw StorageError(
                .unavailable,
                "The \(kind.rawValue) of the hub '\(hub.name)' have numbers up to \(numbers[kind, default: 0]), and a "
                    + "move to PostgreSQL takes at most \(limit), half of its room for a hub. Nothing was moved.")
        }
    }

    private func insert(
        _ hub: Hub, _ settings: [UInt8], _ numbers: [MovedNumber: Int64]
    ) throws(DatabaseFailure) {
        try connection.run(Self.addHub) {
            $0.add(hub.id.rawValue)
            $0.add(hub.name)
            $0.add(hub.name.lowercased())
            $0.add(settings)
            $0.add(hub.createdAt)
            $0.add(hub.modifiedAt)
        }
        let shard = Shard(hub.id).number
        try connection.run(Self.addOrdinals) {
            $0.add(shard)
            for kind in [
                MovedNumber.channels, .registrations, .changes, .forgotten, .installations, .contents,
            ] { $0.add(numbers[kind] ?? 0) }
        }
        try connection.run(Self.addSendOrdinals) {
            $0.add(shard)
            $0.add(numbers[.notifications] ?? 0)
            $0.add(numbers[.deliveries] ?? 0)
        }
        if let campaigns = numbers[.campaigns], campaigns > 0 {
            try connection.run(Self.addCampaignNumbers) {
                $0.add(shard)
                $0.add(campaigns)
            }
        }
    }

    private static let addHub = Statement.rare(
        [.int8, .bytes, .bytes, .bytes, .int8, .int8],
        """
        INSERT INTO hubs (id, name, folded_name, settings, created_at, modified_at) OVERRIDING SYSTEM VALUE
        VALUES ($1, $2, $3, $4, $5, $6)
        """)
    private static let addOrdinals = Statement.rare(
        [.int4, .int8, .int8, .int8, .int8, .int8, .int8],
        """
        INSERT INTO ordinals (shard, channels, registrations, changes, history_start, installations, contents)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """)
    private static let addSendOrdinals = Statement.rare(
        [.int4, .int8, .int8], "INSERT INTO send_ordinals (shard, notifications, deliveries) VALUES ($1, $2, $3)")
    private static let addCampaignNumbers = Statement.rare(
        [.int4, .int8], "INSERT INTO campaign_numbers (shard, last) VALUES ($1, $2)")
    private static let setNamespace = Statement.rare(
        [.bytes, .int8],
        """
        UPDATE namespace SET rules = $1, backend_hub = $2, directory_version = directory_version + 1, moved_to = NULL
        """)
    private static let addPlatform = Statement.rare(
        [.text], "INSERT INTO platforms (name) VALUES ($1) ON CONFLICT (name) DO NOTHING")
}
