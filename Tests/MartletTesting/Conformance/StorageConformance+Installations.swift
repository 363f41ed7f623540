import MartletCore
import MartletModel

extension StorageConformance {
    static let installations: [Requirement] = [
        Requirement("An installation is read as it was written, with the handles of its rows") { bench in
            let hub = try await bench.hub()
            let end = bench.now + .seconds(10)
            let rows = [
                "native": try bench.draft("Phone"), "news": try bench.draft("Tile", template: Template(body: "{}")),
            ]
            let draft = bench.installation("a-b", rows, document: "{\"ä\":1}", expiresAt: end)
            let written = try await bench.put(draft, in: hub)
            let read = try require(try await bench.installation("a-b", in: hub))
            for record in [written, read] {
                try require(record.id, is: "a-b")
                try require(record.document, is: draft.document)
                try require(record.version, is: 1)
                try require(record.expiresAt, is: end)
                try require(record.handles, is: ["native": PushHandle("Phone"), "news": PushHandle("Tile")])
                try require(record.deadSlots, is: [])
                try require(record.createdAt, is: bench.now)
                try require(record.updatedAt, is: bench.now)
            }
            try require(try await bench.installation("a", in: hub) == nil, is: true)
            try require(try await bench.installation("a-b", in: try await bench.hub("other")) == nil, is: true)
        },
        Requirement("Its rows are registrations under ids of the hub's own form, in the audience of all") { bench in
            let hub = try await bench.hub()
            let template = Template(body: "{}")
            try await bench.put("alone", "tablet", ["x"], in: hub)
            try await bench.put(
                bench.installation(
                    "i",
                    [
                        "a": try bench.draft("phone", ["x", "$InstallationId:{i}"]),
                        "b": try bench.draft("phone", ["x"], template: template, variables: ["name": "Ann"]),
                    ]), in: hub)
            let rows = try await bench.rows(hub)
            try require(rows.map(\.installation), is: [nil, "i", "i"])
            try require(rows.map(\.template), is: [nil, nil, template])
            try require(rows[2].pushVariables, is: ["name": "Ann"])
            for row in rows.dropFirst() {
                let parts = row.id.split(separator: "-")
                try require(parts.count, is: 3)
                try require(parts[0].count, is: 19)
                try require(row.version, is: 1)
                try require(try await bench.registration(row.id, in: hub)?.installation, is: "i")
            }
            try require(try await bench.audience(hub, "x").handles, is: ["tablet", "phone"])
            try require(try await bench.templateAudience(hub, "x").rendered, is: [["{}", "Ann"]])
            try require(try await bench.audience(hub, "$InstallationId:{i}").handles, is: ["phone"])
        },
        Requirement("A row that stays keeps its id, its place and its channel, and counts its version up") { bench in
            let hub = try await bench.hub()
            let template = Template(body: "1")
            let first = [
                "same": try bench.draft("phone", ["x"]), "changed": try bench.draft("phone", ["x"], template: template),
                "gone": try bench.draft("tile", ["x"], template: template),
            ]
            try await bench.put(bench.installation("i", first), in: hub)
            let before = try await bench.rows(hub)
            let channel = try await bench.audience(hub).channels
            let later = bench.now + .seconds(5)
            let second = [
                "same": try bench.draft("phone", ["x"]),
                "changed": try bench.draft("phone", ["y"], template: Template(body: "2")),
                "new": try bench.draft("phone", ["x"], template: template),
            ]
            let record = try await bench.put(bench.installation("i", second), in: hub, at: later)
            try require(record.version, is: 2)
            try require(record.createdAt, is: bench.now)
            try require(record.updatedAt, is: later)
            try require(record.handles.keys.sorted(), is: ["changed", "new", "same"])
            let after = try await bench.rows(hub)
            let kept = before.filter { row in after.contains { $0.id == row.id } }
            try require(kept.count, is: 2)
            try require(after.map(\.version), is: [2, 2, 1])
            try require(after.map(\.updatedAt), is: [later, later, later])
            try require(after.map(\.createdAt), is: [bench.now, bench.now, later])
            try require(try await bench.audience(hub).channels, is: channel)
            try require(try await bench.templateAudience(hub, "y").rendered, is: [["2"]])
            try require(try await bench.templateAudience(hub, "x").rendered, is: [["1"]])
        },
        Requirement("A handle keeps its channel when another row takes the place of the one that had it") { bench in
            let hub = try await bench.hub()
            try await bench.put(bench.installation("i", ["a": try bench.draft("phone")]), in: hub)
            let channel = try await bench.audience(hub).channels
            try await bench.put(bench.installation("i", ["b": try bench.draft("phone")]), in: hub)
            try require(try await bench.audience(hub).channels, is: channel)
            try require(try await bench.rows(hub).count, is: 1)
        },
        Requirement("The id of a row that went is not gone, only unknown") { bench in
            let hub = try await bench.hub()
            try await bench.put(bench.installation("i", ["a": try bench.draft("phone", ["x"])]), in: hub)
            let id = try require(try await bench.rows(hub).first).id
            try await bench.put(bench.installation("i", [:]), in: hub)
            try require(try await bench.audience(hub, "x").handles, is: [])
            try require(try await bench.refusalOfDelete(id, in: hub), is: .notFound)
            try require(try await bench.installation("i", in: hub)?.handles, is: [:])
        },
        Requirement("A removed installation is given back and takes its rows along") { bench in
            let hub = try await bench.hub()
            try await bench.put(
                bench.installation("i", ["a": try bench.draft("phone", ["x"])], document: "doc"), in: hub)
            try await bench.put("alone", "phone", ["x"], in: hub)
            let id = try require(try await bench.rows(hub).first).id
            let removed = try await bench.storage.apply(
                InstallationChange.delete(id: "i", condition: .none), in: hub, at: bench.now
            ).get()
            try require(removed.document, is: Array("doc".utf8))
            try require(removed.handles, is: ["a": PushHandle("phone")])
            try require(try await bench.installation("i", in: hub) == nil, is: true)
            try require(try await bench.rows(hub).map(\.id), is: ["alone"])
            try require(try await bench.refusalOfDelete(id, in: hub), is: .notFound)
            try require(try await bench.put(bench.installation("i", [:]), in: hub).version, is: 1)
        },
        Requirement("From its moment on, an expired installation is absent with its rows, and can be made anew") {
            bench in
            let hub = try await bench.hub()
            let end = bench.now + .seconds(10)
            var row = try bench.draft("phone", ["x"])
            row.expiresAt = bench.now + .seconds(99)
            try await bench.put(bench.installation("i", ["a": row], expiresAt: end), in: hub)
            let id = try require(try await bench.rows(hub).first).id
            let before = Timestamp(milliseconds: end.milliseconds - 1)
            try require(try await bench.installation("i", in: hub, at: before) == nil, is: false)
            try require(try await bench.audience(hub, "x", at: before).handles, is: ["phone"])
            try require(try await bench.installation("i", in: hub, at: end) == nil, is: true)
            try require(try await bench.audience(hub, "x", at: end).handles, is: [])
            try require(try await bench.registration(id, in: hub, at: end) == nil, is: true)
            for condition in [WriteCondition.exists, .version(1)] {
                let change = InstallationChange.put(bench.installation("i", [:]), condition: condition)
                try require(try await bench.refusal(ofInstallation: change, in: hub, at: end), is: .notFound)
            }
            try require(
                try await bench.refusal(ofInstallation: .delete(id: "i", condition: .none), in: hub, at: end),
                is: .notFound)
            let anew = try await bench.put(bench.installation("i", ["a": row]), in: hub, at: end)
            try require(anew.version, is: 1)
            try require(anew.createdAt, is: end)
            try require(try await bench.rows(hub, at: end).map(\.version), is: [1])
            try require(try await bench.audience(hub, "x", at: .distantFuture).handles, is: ["phone"])
        },
        Requirement("An installation needs its hub, and goes with it") { bench in
            let hub = try await bench.hub()
            try await bench.put(bench.installation("i", ["a": try bench.draft("phone")]), in: hub)
            try require(try await bench.storage.deleteHub(hub), is: true)
            try require(try await bench.installation("i", in: hub) == nil, is: true)
            let change = InstallationChange.put(bench.installation("i", [:]), condition: .none)
            try require(try await bench.refusal(ofInstallation: change, in: hub), is: .notFound)
        },
    ]

    static let installationConditions: [Requirement] = [
        Requirement("Where the installation is missing, only 'none' creates it") { bench in
            let hub = try await bench.hub()
            let draft = bench.installation("i", ["a": try bench.draft("phone")])
            for condition in [WriteCondition.exists, .version(0), .version(1), .tagged(try Tag("x"))] {
                try require(
                    try await bench.refusal(ofInstallation: .put(draft, condition: condition), in: hub), is: .notFound)
                try require(
                    try await bench.refusal(ofInstallation: .delete(id: "i", condition: condition), in: hub),
                    is: .notFound)
            }
            try require(
                try await bench.refusal(ofInstallation: .delete(id: "i", condition: .none), in: hub), is: .notFound)
            try require(try await bench.rows(hub).count, is: 0, "a refusal changes nothing")
        },
        Requirement("A write with a version happens only to that version of an installation") { bench in
            let hub = try await bench.hub()
            try await bench.put(bench.installation("i", ["a": try bench.draft("phone")]), in: hub)
            let other = bench.installation("i", ["a": try bench.draft("tablet")], document: "other")
            try require(
                try await bench.refusal(ofInstallation: .put(other, condition: .version(2)), in: hub),
                is: .versionMismatch)
            try require(
                try await bench.refusal(ofInstallation: .delete(id: "i", condition: .version(2)), in: hub),
                is: .versionMismatch)
            let record = try require(try await bench.installation("i", in: hub))
            try require(record.document, is: Array("{}".utf8))
            try require(record.handles, is: ["a": PushHandle("phone")])
            try require(try await bench.refusal(ofInstallation: .put(other, condition: .version(1)), in: hub), is: nil)
            try require(try await bench.refusal(ofInstallation: .put(other, condition: .exists), in: hub), is: nil)
            try require(
                try await bench.refusal(ofInstallation: .delete(id: "i", condition: .version(3)), in: hub), is: nil)
        },
        Requirement("Only one of several concurrent writes to the same version succeeds") { bench in
            let hub = try await bench.hub()
            try await bench.put(bench.installation("i", ["a": try bench.draft("h0")]), in: hub)
            for version in Int64(1)...5 {
                let drafts = try (1...8).map { number in
                    bench.installation(
                        "i", ["a": try bench.draft("h\(number)"), "b\(number)": try bench.draft("h\(number)")],
                        document: "\(number)")
                }
                let winners = try await withThrowingTaskGroup(of: InstallationRecord?.self) { group in
                    for draft in drafts {
                        group.addTask {
                            let change = InstallationChange.put(draft, condition: .version(version))
                            return try? await bench.storage.apply(change, in: hub, at: bench.now).get()
                        }
                    }
                    var records: [InstallationRecord] = []
                    for try await record in group { records += record.map { [$0] } ?? [] }
                    return records
                }
                try require(winners.count, is: 1)
                let winner = try require(winners.first)
                let record = try require(try await bench.installation("i", in: hub))
                let number = String(decoding: record.document, as: UTF8.self)
                try require(record.document, is: winner.document)
                try require(record.version, is: version + 1)
                try require(record.handles.keys.sorted(), is: ["a", "b\(number)"])
                try require(try await bench.audience(hub).handles, is: ["h\(number)"])
                try require(try await bench.audience(hub).skipped, is: 1)
            }
        },
        Requirement("A row that is written by its id leaves its installation") { bench in
            let hub = try await bench.hub()
            let rows = [
                "a": try bench.draft("phone", ["x"]),
                "b": try bench.draft("phone", ["x"], template: Template(body: "{}")),
            ]
            try await bench.put(bench.installation("i", rows), in: hub)
            let row = try require(try await bench.rows(hub).first)
            try require(try await bench.refusalOfPut(row.id, "other", in: hub, .version(2)), is: .versionMismatch)
            let written = try await bench.put(row.id, "phone", ["y"], in: hub, condition: .version(1))
            try require(written.installation, is: nil)
            try require(written.version, is: 2)
            try require(try await bench.audience(hub, "y").handles, is: ["phone"])
            try require(try await bench.installation("i", in: hub)?.deadSlots, is: ["a"])
            try require(try await bench.installation("i", in: hub)?.handles.keys.sorted(), is: ["b"])

            try await bench.put(bench.installation("i", rows), in: hub)
            try require(try await bench.rows(hub).map(\.installation), is: [nil, "i", "i"])
            try require(try await bench.installation("i", in: hub)?.deadSlots, is: [])
            try require(try await bench.audience(hub).handles, is: ["phone"])
        },
        Requirement("A row that is removed by its id is gone, and comes back with the next write") { bench in
            let hub = try await bench.hub()
            let draft = bench.installation("i", ["a": try bench.draft("phone", ["x"])])
            try await bench.put(draft, in: hub)
            let id = try require(try await bench.rows(hub).first).id
            try require(try await bench.refusalOfDelete(id, in: hub, .version(2)), is: .versionMismatch)
            try require(try await bench.refusalOfDelete(id, in: hub, .exists), is: nil)
            try require(try await bench.audience(hub, "x").handles, is: [])
            try require(try await bench.installation("i", in: hub)?.deadSlots, is: ["a"])
            try await bench.put(draft, in: hub)
            try require(try await bench.audience(hub, "x").handles, is: ["phone"])
            try require(try await bench.installation("i", in: hub)?.deadSlots, is: [])
        },
        Requirement("Parts merge into one installation in any order, any number of times") { bench in
            let native = try bench.part("phone", ["x"])
            let news = try bench.part("phone", ["x", "n"], template: "news")
            for (number, order) in [[native, news], [news, native], [news, native, news, native]].enumerated() {
                let hub = try await bench.hub("merge\(number)")
                for merge in order {
                    let merged = try await bench.storage.apply(.merge(merge), in: hub, at: bench.now).get()
                    try require(merged.installation, is: "i")
                }
                try require(try await bench.audience(hub, "x").handles, is: ["phone"])
                try require(try await bench.templateAudience(hub, "n").rendered, is: [["{}"]])
                try require(try await bench.rows(hub).count, is: 2)
                let record = try require(try await bench.installation("i", in: hub))
                try require(record.version, is: Int64(order.count))
                let installation = try Installation(parsing: record.document, id: "i")
                try require(installation.tags.map(\.spelling), is: ["x"])
                try require(installation.templates["news"]?.tags.map(\.spelling), is: ["n", "news"])
                try require(record.handles.count, is: 2)
            }
        },
        Requirement("A merged registration takes its old id where it is free, and all parts expire together") { bench in
            let hub = try await bench.hub()
            try await bench.put("taken", "tablet", in: hub)
            var (native, news) = (try bench.part("phone", ["x"]), try bench.part("phone", ["x"], template: "news"))
            (native.registrationID, news.registrationID) = ("mine", "taken")
            for merge in [native, news] {
                _ = try await bench.storage.apply(.merge(merge), in: hub, at: bench.now).get()
            }
            try require(try await bench.registration("mine", in: hub)?.installation, is: "i")
            try require(try await bench.registration("taken", in: hub)?.installation, is: nil)
            let end = bench.now + .seconds(10)
            native.row.registration.expiresAt = end
            _ = try await bench.storage.apply(.merge(native), in: hub, at: bench.now).get()
            try require(try await bench.rows(hub).map(\.expiresAt), is: [nil, end, end])
            try require(try await bench.rows(hub, at: end).map(\.id), is: ["taken"])
        },
        Requirement("A part is refused where there is no hub, another platform, or nothing to update") { bench in
            let hub = try await bench.hub()
            var part = try bench.part("phone", ["x"])
            let nowhere = Hub.ID(rawValue: hub.rawValue + 1000)
            try require(try await bench.refusal(ofMerge: part, in: nowhere), is: .notFound)
            part.updatesOnly = true
            try require(try await bench.refusal(ofMerge: part, in: hub), is: .notFound)
            part.updatesOnly = false
            try require(try await bench.refusal(ofMerge: part, in: hub), is: nil)
            part.updatesOnly = true
            try require(try await bench.refusal(ofMerge: part, in: hub), is: nil)
            part.part.platform = PlatformID(rawValue: "another")
            try require(
                try await bench.refusal(ofMerge: part, in: hub),
                is: .notMergeable("The installation is of the platform '\(bench.platform)', this part of 'another'."))
            try require(try await bench.rows(hub).count, is: 1)
        },
    ]
}

extension StorageBench {
    /// Returns a part of the installation `i`. The part has no system tags, which a hub would add.
    fileprivate func part(_ handle: String, _ tags: [String], template name: String? = nil) throws -> InstallationMerge
    {
        var part = InstallationPart(
            installation: "i", platform: platform, pushChannel: .text(handle), tags: try tags.map { try Tag($0) })
        part.templateName = name
        part.template = name.map { _ in InstallationTemplate(body: "{}") }
        let draft = try draft(handle, tags, template: name.map { Template(name: $0, body: "{}") })
        return InstallationMerge(
            part: part, row: InstallationRow(slot: name ?? "native", registration: draft), registrationID: nil,
            updatesOnly: false)
    }

    fileprivate func refusal(ofMerge merge: InstallationMerge, in hub: Hub.ID) async throws -> RegistrationRefusal? {
        switch try await storage.apply(.merge(merge), in: hub, at: now) {
        case .success: nil
        case .failure(let refusal): refusal
        }
    }
}
