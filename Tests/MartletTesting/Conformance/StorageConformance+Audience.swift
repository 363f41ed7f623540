import MartletCore
import MartletModel

extension StorageConformance {
    static let audiences: [Requirement] = [
        Requirement("An audience goes by channel, each once however many registrations match") { bench in
            let hub = try await bench.hub()
            for (id, handle) in [("1", "b"), ("2", "a"), ("3", "b"), ("4", "b"), ("5", "c")] {
                try await bench.put(id, handle, ["x"], in: hub)
            }
            let audience = try await bench.audience(hub, "x")
            try require(audience.handles, is: ["b", "a", "c"])
            try require(audience.channels, is: audience.channels.sorted())
            try require(audience.skipped, is: 2)
        },
        Requirement("An expression holds for one registration, not for a channel's together") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x"], in: hub)
            try await bench.put("2", "a", ["y"], in: hub)
            try await bench.put("3", "b", ["x", "y"], in: hub)
            try require(try await bench.audience(hub, "x && y").handles, is: ["b"])
            try require(try await bench.audience(hub, "x && !y").handles, is: ["a"])
            try require(try await bench.audience(hub, "!x && !y").handles, is: [])
        },
        Requirement("A negation is of all registrations of the platform, those without tags too") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x"], in: hub)
            try await bench.put("2", "b", in: hub)
            try await bench.put("3", "c", in: hub, on: bench.otherPlatform)
            try require(try await bench.audience(hub, "!x").handles, is: ["b"])
            try require(try await bench.audience(hub, "!!x").handles, is: ["a"])
            try require(try await bench.audience(hub, "!nobody").handles, is: ["a", "b"])
            try require(try await bench.audience(hub, "x || !x").handles, is: ["a", "b"])
            try require(try await bench.audience(hub).handles, is: ["a", "b"])
        },
        Requirement("No channel after the last one is in the audience") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x"], in: hub)
            let accepted = try await bench.accept(hub)
            try await bench.put("2", "b", ["x"], in: hub)
            try await bench.put("1", "a", ["x"], in: hub)
            try require(try await bench.audience(hub, "x", through: accepted.bounds.channel).handles, is: ["a"])
            try require(try await bench.audience(hub, through: accepted.bounds.channel).handles, is: ["a"])
        },
        Requirement("Some channels are reduced to those that are still in the audience") { bench in
            let hub = try await bench.hub()
            for number in 1...5 { try await bench.put("\(number)", "h\(number)", ["x"], in: hub) }
            try await bench.put("twin", "h4", ["x"], in: hub)
            let all = try await bench.audience(hub, "x").channels
            try require(
                try await bench.audience(hub, "x", among: [all[0], all[3], all[4]]).handles, is: ["h1", "h4", "h5"])
            try await bench.put("1", "h1", ["y"], in: hub)
            try await bench.put("new", "h4", ["y"], in: hub, takesHandle: true)
            try require(try await bench.audience(hub, "x", among: [all[0], all[1], all[3]]).handles, is: ["h2"])
            try require(try await bench.audience(hub, "x", among: []).handles, is: [])
        },
        Requirement("A page that ends exactly at the end is the last") { bench in
            let hub = try await bench.hub()
            for number in 1...4 { try await bench.put("\(number)", "h\(number)", ["x"], in: hub) }
            try await bench.put("5", "h4", ["x"], in: hub)
            var query = AudienceQuery(
                hub: hub, platform: bench.platform, expression: .tag(try Tag("x")),
                throughChannel: ChannelID(rawValue: .max), limit: 2, now: bench.now)
            let first = try await bench.storage.audience(query)
            try require(first.isLast, is: false)
            query.after = try require(first.members.last)
            let second = try await bench.storage.audience(query)
            try require(second.count, is: 2)
            try require(second.skipped, is: 1, "the last channel's further registrations belong to its page")
            try require(second.isLast, is: true)
        },
        Requirement("Random expressions over random registrations match as they should, in pages of any size") {
            bench in
            let hub = try await bench.hub()
            var random = SeededGenerator(seed: 20_231_114)
            let world = try await RandomAudience(bench, hub: hub, using: &random)
            for _ in 0..<60 {
                let expression = try world.expression(using: &random)
                for (kind, pageSize) in [
                    (AudienceQuery.Kind.native, 1), (.native, 3), (.template, 2), (.template, 1000),
                ] {
                    let query = AudienceQuery(
                        hub: hub, platform: bench.platform, kind: kind, expression: expression,
                        throughChannel: ChannelID(rawValue: .max), limit: pageSize, now: bench.now)
                    let found = try await bench.audience(query)
                    let wanted = world.audience(expression, kind)
                    let what = "\(expression), \(kind), in pages of \(pageSize)"
                    try require(found.handles, is: wanted.handles, what)
                    try require(found.rendered, is: wanted.rendered, what)
                    try require(found.skipped, is: wanted.skipped, what)
                    try require(found.members, is: found.members.sorted(), what)
                }
            }
        },
        Requirement("An audience is counted as a send would go through it") { bench in
            let hub = try await bench.hub()
            var random = SeededGenerator(seed: 20_261_121)
            let world = try await RandomAudience(bench, hub: hub, using: &random)
            for _ in 0..<60 {
                let expression = try world.expression(using: &random)
                let wanted = world.count(expression)
                var query = AudienceCountQuery(
                    hub: hub, expression: expression, platform: bench.platform, now: bench.now)
                let both = try await bench.storage.audienceCount(query)
                try require(
                    both.platforms[bench.platform] ?? AudienceCount.PlatformCounts(), is: wanted, "\(expression)")
                try require(both.isConsistent, is: true)
                query.kind = .native
                let native = try await bench.storage.audienceCount(query)
                try require(native.devices, is: wanted.native, "native of \(expression)")
                try require(native.registrations, is: wanted.native + wanted.skipped, "native of \(expression)")
                query.kind = .template
                let templates = try await bench.storage.audienceCount(query)
                try require(templates.registrations, is: wanted.templates, "templates of \(expression)")
            }
        },
        Requirement("A count goes over all platforms that have anybody, and no other hub's") { bench in
            let hub = try await bench.hub()
            let other = try await bench.hub("cage")
            try require(try await bench.count(hub), is: AudienceCount())
            try await bench.put("1", "a", ["x"], in: hub)
            try await bench.put("2", "a", ["x"], in: hub, template: Template(body: "body"))
            try await bench.put("3", "a", ["x"], in: hub, on: bench.otherPlatform)
            try await bench.put("4", "b", in: hub, on: bench.otherPlatform)
            try await bench.put("5", "c", ["x"], in: other)
            let count = try await bench.count(hub, "x")
            try require(
                count.platforms[bench.platform], is: AudienceCount.PlatformCounts(native: 1, templates: 1, devices: 1))
            try require(count.platforms[bench.otherPlatform], is: AudienceCount.PlatformCounts(native: 1, devices: 1))
            try require([count.registrations, count.devices], is: [3, 2])
            try require(try await bench.count(hub, "y"), is: AudienceCount())
            try require(try await bench.count(hub).registrations, is: 4)
        },
        Requirement("Devices registered after the acceptance, and expired ones, are not counted") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x"], in: hub)
            try await bench.put("2", "b", ["x"], in: hub, expiresAt: bench.now + .seconds(10))
            let accepted = try await bench.accept(hub)
            try await bench.put("3", "c", ["x"], in: hub)
            var query = AudienceCountQuery(hub: hub, expression: nil, bounds: accepted.bounds, now: bench.now)
            try require(try await bench.storage.audienceCount(query).devices, is: 2)
            query.now = bench.now + .seconds(10)
            try require(try await bench.storage.audienceCount(query).devices, is: 1)
            query.bounds = nil
            try require(try await bench.storage.audienceCount(query).devices, is: 2)
        },
    ]
}

/// Registrations with random tags that share handles, and the audiences that are expected for random expressions.
private struct RandomAudience {
    private static let names = ["a", "b", "c", "d", "e"]
    private struct Entry {
        var handle: String
        var tags: Set<Tag>
        var template: Template?
        var variables: [String: String]
    }

    /// The registrations of the platform that have not expired, in the order of their creation.
    private var entries: [Entry] = []
    /// The handles, in the order of their channels.
    private var handles: [String] = []

    init(_ bench: StorageBench, hub: Hub.ID, using random: inout SeededGenerator) async throws {
        for number in 0..<120 {
            let handle = "h\(Int.random(in: 0..<50, using: &random))"
            let names = Self.names.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
            let isExpired = Int.random(in: 0..<8, using: &random) == 0
            let isForeign = Int.random(in: 0..<8, using: &random) == 0
            let body = Int.random(in: 0..<6, using: &random)
            let template = body < 3 ? Template(body: "body \(body)") : nil
            let variables = body < 2 ? ["name": "value \(Int.random(in: 0..<3, using: &random))"] : [:]
            try await bench.put(
                "\(number)", handle, names, in: hub, on: isForeign ? bench.otherPlatform : nil, template: template,
                variables: variables,
                expiresAt: isExpired ? bench.now : number % 5 == 0 ? bench.now + .seconds(60) : nil,
                at: bench.now + .seconds(-60))
            guard !isForeign else { continue }
            if !handles.contains(handle) { handles.append(handle) }
            guard !isExpired else { continue }
            let tags = Set(try names.map { try Tag($0) })
            entries.append(Entry(handle: handle, tags: tags, template: template, variables: variables))
        }
    }

    func expression(using random: inout SeededGenerator, depth: Int = 3) throws -> TagExpression {
        let operands = { (count: Int, random: inout SeededGenerator) in
            try (0..<count).map { _ in try expression(using: &random, depth: depth - 1) }
        }
        switch depth == 0 ? 0 : Int.random(in: 0..<5, using: &random) {
        case 1: return .not(try expression(using: &random, depth: depth - 1))
        case 2: return .and(try operands(Int.random(in: 2...3, using: &random), &random))
        case 3: return .or(try operands(Int.random(in: 2...3, using: &random), &random))
        default: return .tag(try Tag(Self.names.randomElement(using: &random) ?? "a"))
        }
    }

    func audience(
        _ expression: TagExpression, _ kind: AudienceQuery.Kind
    ) -> (handles: [String], rendered: [[String]], skipped: Int) {
        let matching = entries.filter {
            expression.matches($0.tags) && ($0.template == nil) == (kind == .native)
        }
        let byHandle = handles.map { handle in matching.filter { $0.handle == handle } }
        switch kind {
        case .native:
            let reached = byHandle.compactMap { $0.first?.handle }
            return (reached, [], matching.count - reached.count)
        case .template:
            let members = byHandle.flatMap { $0 }
            let rendered = members.map { [$0.template?.body ?? ""] + $0.variables.values.sorted() }
            return (members.map(\.handle), rendered, 0)
        }
    }
}

extension RandomAudience {
    func count(_ expression: TagExpression) -> AudienceCount.PlatformCounts {
        let native = audience(expression, .native)
        let templates = audience(expression, .template)
        return AudienceCount.PlatformCounts(
            native: native.handles.count, skipped: native.skipped, templates: templates.handles.count,
            devices: Set(native.handles + templates.handles).count)
    }
}
