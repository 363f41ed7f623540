import MartletCore
import MartletModel

extension StorageConformance {
    static let composedMessages: [Requirement] = [
        Requirement("A message is delivered on every platform with registrations without a template but those left out")
        {
            bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            try await bench.put("2", "b", in: hub, on: bench.otherPlatform)
            try await bench.put("3", "c", in: hub, on: PlatformID(rawValue: "owl"), template: Template(body: "{}"))
            let platforms = try await bench.storage.nativePlatforms(in: hub)
            try require(platforms, is: [bench.otherPlatform, bench.platform])
            let body = #"{"text": "x", "collapse": "k"}"#
            var draft = bench.notificationDraft(hub)
            draft.content = .message(try ComposedContent(Array(body.utf8)))
            draft.collapse = Collapse(keysByPlatform: [bench.platform: "1", PlatformID(rawValue: "owl"): ""])
            let accepted = try await bench.accepted(draft)
            try require(accepted.deliveries.map(\.platform), is: platforms)
            try require(accepted.deliveries.allSatisfy { $0.bounds.channel != .none }, is: true)
            let stored = try await bench.storage.unfinished(after: .none, limit: 9)
            try require(stored.map(\.delivery.notification.collapse), is: [draft.collapse, draft.collapse])
            try require(stored.map { $0.delivery.notification.content.body }, is: [Array(body.utf8), Array(body.utf8)])
            draft.id = NotificationID(at: bench.now)
            draft.content = .message(
                try ComposedContent(Array(#"{"text": "x", "platforms": {"parrot": false}}"#.utf8)))
            try require(try await bench.accepted(draft).deliveries.map(\.platform), is: [bench.platform])
        },
        Requirement("A message replaces others on those platforms on which it has a key, and is replaced there") {
            bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            try await bench.put("2", "b", in: hub, on: bench.otherPlatform)
            var native = bench.notificationDraft(hub)
            native.collapse = Collapse(key: "k")
            let first = try await bench.accepted(native).deliveries[0]
            var draft = bench.notificationDraft(hub)
            draft.content = .message(try ComposedContent(Array(#"{"text": "x"}"#.utf8)))
            draft.collapse = Collapse(keysByPlatform: [bench.platform: "k"])
            let deliveries = try await bench.accepted(draft).deliveries
            let second = try require(deliveries.first { $0.platform == bench.platform })
            let members = CollapseDevices.channels(try await bench.audience(hub).channels)
            try require(try await bench.supersededByKey(first, members), is: [0])
            try require(try await bench.supersededByKey(second, members), is: [])
            native.id = NotificationID(at: bench.now)
            _ = try await bench.accepted(native)
            try require(try await bench.supersededByKey(second, members), is: [0])
        },
        Requirement("Each device has its language and its variables, in small pages and in large ones") { bench in
            let hub = try await bench.hub()
            let content = try ComposedContent(
                Array(
                    #"{"text": {"en": "$(name)", "de": "y", "ko": "z"}, "language": "en", "variables": {"name": ""}}"#
                        .utf8))
            let tags = [["lang:de"], [], ["lang:ko-KR", "x"], ["lang:fr"], ["lang:ko", "lang:de-AT"]]
            for number in 0..<200 {
                try await bench.put(
                    "\(number)", "h\(number)", tags[number % 5], in: hub,
                    variables: number % 2 == 0 ? [:] : ["name": "n\(number % 4)"])
            }
            for limit in [1, 64, 65, 1000] {
                var query = AudienceQuery(
                    hub: hub, platform: bench.platform, expression: nil, throughChannel: ChannelID(rawValue: .max),
                    limit: limit, now: bench.now)
                query.variants = AudienceVariants(languages: content.languages, readsVariables: true)
                var found: [[String]] = []
                while true {
                    let page = try await bench.storage.audience(query)
                    for index in page.members.indices {
                        let variant = page.variants[Int(page.variantIndices[index])]
                        found.append([
                            content.languages.tags[variant.id.language].folded, variant.variables["name"] ?? "-",
                        ])
                    }
                    if page.isLast { break }
                    query.after = try require(page.members.last)
                }
                let languages = ["de", "en", "ko", "en", "de"]
                let wanted = (0..<200).map { [languages[$0 % 5], $0 % 2 == 0 ? "-" : "n\($0 % 4)"] }
                try require(found, is: wanted, "in pages of \(limit)")
            }
            var query = AudienceQuery(
                hub: hub, platform: bench.platform, expression: nil, throughChannel: ChannelID(rawValue: .max),
                limit: 1000, now: bench.now)
            try require(try await bench.storage.audience(query).variants.count, is: 0)
            query.variants = AudienceVariants(languages: content.languages, readsVariables: false)
            try require(try await bench.storage.audience(query).variants.count, is: 3)
        },
        Requirement("Each device has its own language even if there are too many languages for cursors") {
            bench in
            let hub = try await bench.hub()
            for number in 0..<300 { try await bench.put("\(number)", "h\(number)", ["lang:de-x\(number)"], in: hub) }
            try await bench.put("last", "last", ["lang:fr"], in: hub)
            let content = try ComposedContent(
                Array(#"{"text": {"en": "x", "de": "y", "fr": "z"}, "language": "en"}"#.utf8))
            var query = AudienceQuery(
                hub: hub, platform: bench.platform, expression: nil, throughChannel: ChannelID(rawValue: .max),
                limit: 1000, now: bench.now)
            query.variants = AudienceVariants(languages: content.languages, readsVariables: false)
            let page = try await bench.storage.audience(query)
            let found = page.variantIndices.map { content.languages.tags[page.variants[Int($0)].id.language].folded }
            try require(found, is: Array(repeating: "de", count: 300) + ["fr"])
        },
        Requirement("An audience is counted by language, and a hub tells its languages by their tags") { bench in
            let hub = try await bench.hub()
            for (id, tag) in [("1", "lang:de"), ("2", "lang:de-AT"), ("3", "lang:ko"), ("4", "lang:xx"), ("5", "y")] {
                try await bench.put(id, "h\(id)", [tag], in: hub)
            }
            try await bench.put("6", "h6", ["lang:pl"], in: hub, template: Template(body: "{}"))
            try await bench.put("7", "h1", ["lang:de"], in: hub)
            let content = try ComposedContent(
                Array(#"{"text": {"en": "x", "de": "y", "ko": "z"}, "language": "en"}"#.utf8))
            var query = AudienceCountQuery(hub: hub, expression: nil, now: bench.now)
            query.languages = content.languages
            let part = try require(try await bench.storage.audienceCount(query).platforms[bench.platform])
            try require(part.languages, is: [0: 2, 1: 2, 2: 1])
            try require(part.native, is: 5)
            let tags = try await bench.storage.tags(beginningWith: "lang:", in: hub, limit: 9).map(\.folded)
            try require(tags, is: ["lang:de", "lang:de-at", "lang:ko", "lang:xx"])
            try require(try await bench.storage.tags(beginningWith: "lang:", in: hub, limit: 1).count, is: 1)
        },
    ]
}

extension StorageBench {
    /// Returns the indices of those devices that a later delivery with the key `k` also targets.
    fileprivate func supersededByKey(_ delivery: Delivery, _ devices: CollapseDevices) async throws -> [Int] {
        let query = CollapseQuery(
            delivery: delivery.id, hub: delivery.notification.hub, platform: delivery.platform, key: "k",
            devices: devices, target: .audience(nil), now: now)
        return try await storage.superseded(query).devices
    }
}
