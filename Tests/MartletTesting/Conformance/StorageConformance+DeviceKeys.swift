import MartletCore
import MartletModel

extension StorageConformance {
    static let deviceKeys: [Requirement] = [
        Requirement("Devices of a tag are told with their keys, the last first") { bench in
            let hub = try await bench.hub()
            for (id, tags) in [("1", ["username:bob", "x"]), ("2", ["username:bob"]), ("3", ["username:eve"])] {
                try await bench.put(id, "h\(id)", tags, in: hub)
            }
            try await bench.put("4", "h4", ["username:bob"], in: hub, on: bench.otherPlatform)
            for id in ["1", "3", "4"] {
                try require(
                    try await bench.putKey(id, of: id, id == "3" ? "username:eve" : "username:bob", in: hub), is: true)
            }
            let wanted = [
                KeyedDevice(registration: "4", platform: bench.otherPlatform, key: bench.key("4")),
                KeyedDevice(registration: "1", platform: bench.platform, key: bench.key("1")),
            ]
            try require(try await bench.keys("UserName:Bob", in: hub), is: wanted)
            try require(try await bench.keys("username:bob", in: hub, limit: 1), is: [wanted[0]])
            try require(try await bench.keys("username:dave", in: hub), is: [])
            try require(try await bench.keys("username:bob", in: try await bench.hub("other")), is: [])
        },
        Requirement("A key is replaced and taken away, and is nobody's without a registration") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "h", ["x"], in: hub)
            _ = try await bench.putKey("1", of: "1", "x", in: hub)
            _ = try await bench.putKey("2", of: "1", "x", in: hub)
            try require(try await bench.keys("x", in: hub).map(\.key), is: [bench.key("2")])
            _ = try await bench.putKey(nil, of: "1", "x", in: hub)
            try require(try await bench.keys("x", in: hub), is: [])
            try require(try await bench.putKey("1", of: "9", "x", in: hub), is: false)
            try require(try await bench.putKey(nil, of: "9", "x", in: hub), is: false)
        },
        Requirement("A key counts while its registration stands and carries the tag") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "h", ["x"], in: hub, expiresAt: bench.now + .seconds(60))
            _ = try await bench.putKey("1", of: "1", "x", in: hub)
            try require(try await bench.keys("x", in: hub, at: bench.now + .seconds(60)), is: [])
            try await bench.put("1", "h", ["y"], in: hub)
            try require(try await bench.keys("x", in: hub), is: [])
            try await bench.put("1", "h", ["x", "y"], in: hub)
            try require(try await bench.keys("X", in: hub).count, is: 1, "a write of the registration keeps it")
            try await bench.put("2", "h", ["x", "y"], in: hub, takesHandle: true)
            try require(try await bench.keys("x", in: hub), is: [], "the device has changed hands")
        },
        Requirement("A key is told of under the tag that it was put for, whatever tags its registration gets") {
            bench in
            let hub = try await bench.hub()
            try await bench.put("1", "h", ["username:eve"], in: hub)
            try require(try await bench.putKey("1", of: "1", "username:bob", in: hub), is: false)
            try require(try await bench.putKey("1", of: "1", "username:eve", in: hub), is: true)
            try await bench.put("1", "h", ["username:eve", "username:bob"], in: hub)
            try require(try await bench.keys("username:bob", in: hub), is: [])
            try require(try await bench.keys("username:eve", in: hub).count, is: 1)
        },
    ]

    static let audienceTags: [Requirement] = [
        Requirement("The users of the channels that a send reaches are told, each once a page") { bench in
            let hub = try await bench.hub()
            let world: [(String, String, [String])] = [
                ("1", "a", ["news", "username:Bob"]), ("2", "b", ["username:carol"]),
                ("3", "c", ["NEWS", "username:bob", "username"]), ("4", "d", ["news", "from:eve"]),
                // Registration 5 brings the channel into the audience. Registration 6 has the same channel and names
                // its user.
                ("5", "e", ["news"]), ("6", "e", ["username:dave"]),
            ]
            for (id, handle, tags) in world { try await bench.put(id, handle, tags, in: hub) }
            try await bench.put("7", "f", ["news", "username:foreign"], in: hub, on: bench.otherPlatform)
            try await bench.put("8", "e", ["username:late"], in: hub, expiresAt: bench.now)
            for size in [1, 2, 100] {
                let found = try await bench.tags("USERNAME:", "news", in: hub, pageSize: size)
                try require(Set(found.joined()), is: ["username:bob", "username:dave"], "in pages of \(size)")
                try require(found.allSatisfy { Set($0).count == $0.count }, is: true)
            }
            try require(try await bench.tags("username:", "news", in: hub, pageSize: 1).count, is: 4)
            try require(try await bench.tags("username:", "nobody", in: hub), is: [[]])
        }
    ]
}

extension StorageBench {
    fileprivate func key(_ text: String) -> DeviceKey {
        DeviceKey(
            publicKey: [4] + [UInt8](repeating: Array(text.utf8)[0], count: 64),
            authSecret: [UInt8](repeating: Array(text.utf8)[0], count: 16))
    }

    fileprivate func putKey(
        _ text: String?, of registration: String, _ tag: String, in hub: Hub.ID
    ) async throws -> Bool {
        try await storage.putDeviceKey(text.map(key), of: registration, tagged: try Tag(tag), in: hub)
    }

    fileprivate func keys(
        _ tag: String, in hub: Hub.ID, at timestamp: Timestamp? = nil, limit: Int = 100
    ) async throws -> [KeyedDevice] {
        try await storage.deviceKeys(of: try Tag(tag), in: hub, at: timestamp ?? now, limit: limit)
    }

    /// Returns the tags of an audience in lower case: one array for each page.
    fileprivate func tags(
        _ prefix: String, _ expression: String, in hub: Hub.ID, pageSize: Int = 100
    ) async throws -> [[String]] {
        var query = AudienceQuery(
            hub: hub, platform: platform, expression: try TagExpression(expression),
            throughChannel: ChannelID(rawValue: .max), limit: pageSize, now: now)
        var pages: [[String]] = []
        while true {
            let page = try await storage.tags(beginningWith: prefix, of: query)
            pages.append(page.tags.map(\.folded))
            guard let next = page.next else { return pages }
            query.after = next
        }
    }
}
