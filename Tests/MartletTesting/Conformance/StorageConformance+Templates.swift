import MartletCore
import MartletModel

extension StorageConformance {
    static let templates: [Requirement] = [
        Requirement("A registration with template, push variables and secondary tile is read as it was written") {
            bench in
            let hub = try await bench.hub()
            let templates = [
                Template(body: "{}"),
                Template(name: "news", body: "{\"a\":\"$(b)\"}", headers: [], options: ["Expiry": "#(when)"]),
                Template(
                    name: "", body: "", headers: [.init(name: "X-B", value: "ä"), .init(name: "X-B", value: "")],
                    options: ["": "", "Priority": "10"]),
            ]
            for (number, template) in templates.enumerated() {
                var draft = try bench.draft("h", template: template, variables: ["name": "Ä", "": ""])
                draft.secondaryTile = "tile \(number)"
                let change = RegistrationChange.put(draft, id: "\(number)", condition: .none)
                let written = try await bench.storage.apply(change, in: hub, at: bench.now).get()
                let read = try require(try await bench.registration("\(number)", in: hub))
                let listed = try await bench.storage.registrations(
                    RegistrationQuery(hub: hub, filter: .all, limit: 10, now: bench.now)
                ).registrations[number]
                for registration in [written, read, listed] {
                    try require(registration.template, is: template)
                    try require(registration.pushVariables, is: draft.pushVariables)
                    try require(registration.secondaryTile, is: draft.secondaryTile)
                    try require(registration.installation, is: nil)
                }
            }
        },
        Requirement("A write can give a registration a template, change it and take it away") { bench in
            let hub = try await bench.hub()
            let (first, second) = (Template(body: "1"), Template(body: "2"))
            try await bench.put("same", "h", in: hub, template: first)
            let states: [(Template?, [String: String])] = [
                (nil, [:]), (first, ["a": "1"]), (second, ["a": "1"]), (second, [:]), (nil, [:]),
            ]
            for (template, variables) in states {
                try await bench.put("1", "h", ["x"], in: hub, template: template, variables: variables)
                let read = try require(try await bench.registration("1", in: hub))
                try require(read.template, is: template)
                try require(read.pushVariables, is: variables)
                try require(try await bench.audience(hub, "x").handles.count, is: template == nil ? 1 : 0)
                let wanted = template.map { [[$0.body] + variables.values] } ?? []
                try require(try await bench.templateAudience(hub, "x").rendered, is: wanted)
            }
            try require(try await bench.registration("same", in: hub)?.template, is: first, "somebody else's stays")
        },
        Requirement("A page of a listing ends where it takes as much memory as it may") { bench in
            let hub = try await bench.hub()
            let large = String(repeating: "x", count: 30_000)
            for number in 0..<8 {
                try await bench.put("\(number)", "h", ["x"], in: hub, template: Template(body: "\(number)\(large)"))
            }
            let filters: [RegistrationQuery.Filter] = [
                .all, .tag(try Tag("x")), .handle(platform: bench.platform, key: "h"),
            ]
            for filter in filters {
                var query = RegistrationQuery(
                    hub: hub, filter: filter, limit: 100, byteLimit: 70_000, now: bench.now)
                var pages: [[String]] = []
                repeat {
                    let page = try await bench.storage.registrations(query)
                    pages.append(page.registrations.map(\.id))
                    query.after = page.next
                } while query.after != nil && pages.count < 10
                try require(pages, is: [["0", "1", "2"], ["3", "4", "5"], ["6", "7"]])
            }
        },
        Requirement("A listing by tag or handle shows registrations with and without a template") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "h", ["x"], in: hub)
            try await bench.put("2", "h", ["x"], in: hub, template: Template(body: "{}"))
            try require(try await bench.list(hub, .tag(try Tag("x"))), is: [["1", "2"]])
            try require(try await bench.list(hub, .handle(platform: bench.platform, key: "h")), is: [["1", "2"]])
        },
        Requirement("Changes of one call are done in their order, and a refused one holds up no other") { bench in
            let hub = try await bench.hub()
            let results = try await bench.storage.apply(
                [
                    .put(try bench.draft("a", ["x"]), id: "1", condition: .none),
                    .put(try bench.draft("b", ["x"]), id: "2", condition: .exists),
                    .put(try bench.draft("c", ["x"]), id: "3", condition: .none),
                    .put(try bench.draft("d", ["x"]), id: "1", condition: .version(1)),
                    .delete(id: "3", condition: .none),
                    .put(try bench.draft("c", ["x"]), id: "3", condition: .none),
                    .put(try bench.draft("e", ["x"]), id: "4", condition: .none),
                ], in: hub, at: bench.now)
            let versions = results.map { result -> Int64 in (try? result.get().version) ?? 0 }
            try require(versions, is: [1, 0, 1, 2, 1, 0, 1])
            try require(try await bench.audience(hub, "x").handles, is: ["d", "e"])
        },
        Requirement("A tag that comes, goes and comes again within one call is found") { bench in
            let hub = try await bench.hub()
            let tags = [["x"], [], ["x"], ["y"], ["x", "y"]]
            let changes = try tags.map { RegistrationChange.put(try bench.draft("a", $0), id: "1", condition: .none) }
            _ = try await bench.storage.apply(changes, in: hub, at: bench.now)
            try await bench.put("2", "b", ["x"], in: hub)
            try require(try await bench.audience(hub, "x").handles, is: ["a", "b"])
            try require(try await bench.audience(hub, "x && y").handles, is: ["a"])
        },
        Requirement("A call without changes does nothing") { bench in
            let hub = try await bench.hub()
            let nothing: [Result<Registration, RegistrationRefusal>] = try await bench.storage.apply(
                [], in: hub, at: bench.now)
            try require(nothing.count, is: 0)
        },
    ]

    static let templateAudiences: [Requirement] = [
        Requirement("A template send reaches every matching registration, in the order of channels") { bench in
            let hub = try await bench.hub()
            let (first, second) = (Template(body: "1"), Template(body: "2"))
            try await bench.put("1", "b", ["x"], in: hub, template: first)
            try await bench.put("2", "a", ["x"], in: hub, template: second, variables: ["name": "Ann"])
            try await bench.put("3", "b", ["x"], in: hub, template: second)
            try await bench.put("4", "b", ["y"], in: hub, template: first)
            try await bench.put("5", "b", ["x"], in: hub)
            for pageSize in [1, 2, 3, 100] {
                let audience = try await bench.templateAudience(hub, "x", pageSize: pageSize)
                try require(audience.handles, is: ["b", "b", "a"])
                try require(audience.rendered, is: [["1"], ["2"], ["2", "Ann"]])
                try require(audience.members, is: audience.members.sorted())
                try require(audience.skipped, is: 0)
            }
            try require(try await bench.audience(hub, "x").handles, is: ["b"])
            try require(
                try await bench.audience(hub, "x").skipped, is: 0, "templates count for nothing in a native send")
        },
        Requirement("Members that share template and variables share one rendering, whose id keeps its meaning") {
            bench in
            let hub = try await bench.hub()
            for number in 0..<6 {
                try await bench.put(
                    "\(number)", "h\(number)", in: hub, template: Template(body: "\(number % 2)"),
                    variables: number < 4 ? [:] : ["name": "Ann"])
            }
            let query = AudienceQuery(
                hub: hub, platform: bench.platform, kind: .template, expression: nil, throughChannel: .none, limit: 10,
                now: bench.now)
            let page = try await bench.storage.audience(query)
            try require(page.renderings.count, is: 4)
            try require(page.bindingIndices, is: [0, 1, 0, 1, 2, 3])
            for number in 0..<6 { _ = try await bench.refusalOfDelete("\(number)", in: hub) }
            try await bench.put("new", "h", in: hub, template: Template(body: "new"), variables: ["name": "Bob"])
            let id = try require(try await bench.storage.audience(query).renderings.first).id
            try require(page.renderings.contains { $0.id.template == id.template }, is: false)
            try require(page.renderings.contains { $0.id.variables == id.variables }, is: false)
        },
        Requirement("A page ends where it takes as much memory as it may, and the next goes on behind it") { bench in
            let hub = try await bench.hub()
            let limit = 100_000
            let large = String(repeating: "x", count: 30_000)
            for number in 0..<8 {
                try await bench.put("t\(number)", "h\(number)", in: hub, template: Template(body: "\(number)\(large)"))
                try await bench.put(
                    "v\(number)", "h\(number)", in: hub, template: Template(body: "same"),
                    variables: ["name": "\(number)\(large)"])
            }
            var query = AudienceQuery(
                hub: hub, platform: bench.platform, kind: .template, expression: nil,
                throughChannel: ChannelID(rawValue: .max), limit: 100, byteLimit: limit, now: bench.now)
            let all = try await bench.templateAudience(hub)
            var (members, pages, isLast) = ([AudienceMember](), 0, false)
            while !isLast {
                let page = try await bench.storage.audience(query)
                try require(page.count > 0, is: true)
                try require(page.bytes < limit + 40_000, is: true, "beyond the limit is one member at most")
                try require(page.count > 5, is: false)
                (members, pages, isLast) = (members + page.members, pages + 1, page.isLast)
                query.after = page.members[page.count - 1]
            }
            try require(members, is: all.members)
            try require((4...8).contains(pages), is: true)
            // A page always has at least one member, even if that member alone exceeds the limit.
            query.after = .none
            query.byteLimit = 1
            try require(try await bench.storage.audience(query).count, is: 1)
            query.among = all.members
            query.byteLimit = limit
            let some = try await bench.storage.audience(query)
            try require(some.isLast, is: false)
            try require(some.members, is: Array(all.members.prefix(some.count)))
        },
        Requirement("Members with one template and variables of their own share the template's memory") { bench in
            let hub = try await bench.hub()
            let template = Template(body: String(repeating: "x", count: 30_000))
            for number in 0..<20 {
                try await bench.put(
                    "\(number)", "h\(number)", in: hub, template: template, variables: ["n": "\(number)"])
            }
            let page = try await bench.storage.audience(
                AudienceQuery(
                    hub: hub, platform: bench.platform, kind: .template, expression: nil,
                    throughChannel: ChannelID(rawValue: .max), limit: 100, now: bench.now))
            try require(page.renderings.count, is: 20)
            try require(page.bytes < 50_000, is: true)
        },
        Requirement("A native page ends by its bytes as well") { bench in
            let hub = try await bench.hub()
            for number in 0..<8 {
                try await bench.put("\(number)", "\(number)" + String(repeating: "h", count: 4000), in: hub)
            }
            let page = try await bench.storage.audience(
                AudienceQuery(
                    hub: hub, platform: bench.platform, expression: nil, throughChannel: ChannelID(rawValue: .max),
                    limit: 100, byteLimit: 10_000, now: bench.now))
            try require(page.count, is: 3)
            try require(page.isLast, is: false)
        },
        Requirement("A registration after the last one is in no template audience") { bench in
            let hub = try await bench.hub()
            let template = Template(body: "{}")
            try await bench.put("1", "a", ["x"], in: hub, template: template)
            try await bench.put("2", "b", ["x"], in: hub, template: template)
            let last = try require(try await bench.templateAudience(hub).registrations.max())
            try await bench.put("3", "a", ["x"], in: hub, template: template)
            try await bench.put("4", "c", ["x"], in: hub, template: template)
            try await bench.put("1", "d", ["x"], in: hub, template: template)
            try require(try await bench.templateAudience(hub, "x", through: last, pageSize: 1).handles, is: ["b", "d"])
        },
        Requirement("Some members are reduced to those that are still in the template audience") { bench in
            let hub = try await bench.hub()
            let template = Template(body: "{}")
            for number in 1...6 {
                try await bench.put("\(number)", "h\(number % 2)", ["x"], in: hub, template: template)
            }
            let all = try await bench.templateAudience(hub, "x").members
            try require(all.count, is: 6)
            try await bench.put("1", "h1", ["y"], in: hub, template: template)
            _ = try await bench.refusalOfDelete("3", in: hub)
            try await bench.put("2", "h0", ["x"], in: hub)
            for pageSize in [1, 10] {
                try require(
                    try await bench.templateAudience(hub, "x", among: all, pageSize: pageSize).members,
                    is: [all[2], all[4], all[5]])
                try require(
                    try await bench.templateAudience(hub, "x", among: [all[0], all[5]], pageSize: pageSize).members,
                    is: [all[5]])
            }
            try require(try await bench.templateAudience(hub, "x", among: []).members, is: [])
        },
        Requirement("An expired registration is in no template audience") { bench in
            let hub = try await bench.hub()
            let template = Template(body: "{}")
            try await bench.put("1", "a", in: hub, template: template, expiresAt: bench.now + .seconds(1))
            try await bench.put("2", "a", in: hub, template: template)
            try require(try await bench.templateAudience(hub).handles, is: ["a", "a"])
            try require(try await bench.templateAudience(hub, at: bench.now + .seconds(1)).handles, is: ["a"])
        },
        Requirement("A native send's last channel is of native registrations") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            try await bench.put("2", "b", in: hub, template: Template(body: "{}"))
            let accepted = try await bench.accept(hub)
            try require(accepted.bounds.channel, is: try require(try await bench.audience(hub).channels.first))
        },
        Requirement("A channel that moved keeps its template registrations") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "old", ["x"], in: hub, template: Template(body: "1"), variables: ["name": "Ann"])
            try await bench.put("2", "new", ["x"], in: hub, template: Template(body: "2"))
            let channel = try require(try await bench.templateAudience(hub).channels.first)
            let item = ChannelFeedback(channel: channel, kind: .moved(PushHandle("new"), key: "new"))
            _ = try await bench.storage.apply([item], in: hub, at: bench.now)
            let audience = try await bench.templateAudience(hub, "x")
            try require(audience.handles, is: ["new", "new"])
            try require(audience.rendered, is: [["1", "Ann"], ["2"]])
        },
    ]
}
