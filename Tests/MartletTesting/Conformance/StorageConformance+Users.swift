import MartletCore
import MartletModel

extension StorageConformance {
    static let users: [Requirement] = [
        Requirement("A user is found whatever the case, as added") { bench in
            try await bench.storage.putUser(User(name: "Alice", passwordHash: "1", createdAt: bench.now))
            let user = try require(try await bench.storage.user("aLICE"))
            try require(user.name, is: "Alice")
            try require(user.passwordHash, is: "1")
            try require(user.createdAt, is: bench.now)
            try require(try await bench.storage.user("bob") == nil, is: true)
        },
        Requirement("Users are listed by name without case") { bench in
            for name in ["bob", "Alice", "carol"] {
                try await bench.storage.putUser(User(name: name, passwordHash: "", createdAt: bench.now))
            }
            try require(
                try await bench.storage.users(beginningWith: "", after: nil, limit: 9).map(\.name),
                is: ["Alice", "bob", "carol"])
            let page = try await bench.storage.users(beginningWith: "", after: "ALICE", limit: 1)
            try require(page.map(\.name), is: ["bob"])
            let named = try await bench.storage.users(beginningWith: "AL", after: nil, limit: 9)
            try require(named.map(\.name), is: ["Alice"])
        },
        Requirement("A new password ends the sessions and keeps the rest") { bench in
            try await bench.storage.putUser(User(name: "Alice", passwordHash: "1", createdAt: bench.now))
            try await bench.storage.addSession(bench.session([1], of: "alice"))
            try await bench.storage.putUser(
                User(name: "ALICE", passwordHash: "2", createdAt: bench.now + .seconds(1)))
            let user = try require(try await bench.storage.user("alice"))
            try require(user.passwordHash, is: "2")
            try require(user.name, is: "Alice")
            try require(user.createdAt, is: bench.now)
            try require(try await bench.storage.session(tokenHash: [1], at: bench.now) == nil, is: true)
        },
        Requirement("A new password for an existing user ends the sessions, and adds no user") { bench in
            for (token, name) in [(UInt8(1), "Alice"), (2, "bob")] {
                try await bench.storage.putUser(User(name: name, passwordHash: "1", createdAt: bench.now))
                try await bench.storage.addSession(bench.session([token], of: name))
            }
            _ = try await bench.storage.addRole("editor", to: "alice")
            try require(try await bench.storage.changePassword(of: "aLICE", to: "2"), is: true)
            let user = try require(try await bench.storage.user("alice"))
            try require([user.name, user.passwordHash], is: ["Alice", "2"])
            try require(user.roles, is: ["editor"])
            try require(try await bench.storage.session(tokenHash: [1], at: bench.now) == nil, is: true)
            try require(try await bench.storage.session(tokenHash: [2], at: bench.now)?.userName, is: "bob")
            _ = try await bench.storage.removeUser("alice")
            try require(try await bench.storage.changePassword(of: "alice", to: "3"), is: false)
            try require(try await bench.storage.user("alice") == nil, is: true)
        },
        Requirement("Roles are given and taken one by one, survive a new password and go with the user") { bench in
            let user = User(name: "Alice", passwordHash: "1", createdAt: bench.now, roles: ["ignored"])
            try await bench.storage.putUser(user)
            try require(try await bench.storage.user("alice")?.roles, is: [])
            for role in ["admin", "editor", "admin"] {
                try require(try await bench.storage.addRole(role, to: "ALICE"), is: true)
            }
            try await bench.storage.putUser(User(name: "alice", passwordHash: "2", createdAt: bench.now))
            try require(try await bench.storage.user("alice")?.roles, is: ["admin", "editor"])
            try require(try await bench.storage.removeRole("admin", from: "aLice"), is: true)
            try require(try await bench.storage.removeRole("admin", from: "alice"), is: true)
            try require(
                try await bench.storage.users(beginningWith: "", after: nil, limit: 9).map(\.roles), is: [["editor"]])
            _ = try await bench.storage.removeUser("alice")
            try require(try await bench.storage.addRole("admin", to: "alice"), is: false)
            try require(try await bench.storage.removeRole("editor", from: "alice"), is: false)
            try await bench.storage.putUser(user)
            try require(try await bench.storage.user("alice")?.roles, is: [])
        },
        Requirement("A session is found by its token until it expires or is removed") { bench in
            try await bench.storage.putUser(User(name: "Alice", passwordHash: "1", createdAt: bench.now))
            try await bench.storage.addSession(bench.session([1, 2], of: "ALICE"))
            try await bench.storage.addSession(bench.session([3], of: "alice"))
            let session = try require(try await bench.storage.session(tokenHash: [1, 2], at: bench.now))
            try require(session.userName, is: "Alice")
            try require(session.expiresAt, is: bench.now + .seconds(60))
            let end = bench.now + .seconds(60)
            try require(try await bench.storage.session(tokenHash: [1, 2], at: end) == nil, is: true)
            try require(try await bench.storage.removeSession(tokenHash: [1, 2]), is: true)
            try require(try await bench.storage.removeSession(tokenHash: [1, 2]), is: false)
            try require(try await bench.storage.session(tokenHash: [1, 2], at: bench.now) == nil, is: true)
            try require(try await bench.storage.session(tokenHash: [3], at: bench.now) == nil, is: false)
        },
        Requirement("A user goes with the sessions, and nobody else's") { bench in
            for (name, token) in [("alice", UInt8(1)), ("bob", 2)] {
                try await bench.storage.putUser(User(name: name, passwordHash: "1", createdAt: bench.now))
                try await bench.storage.addSession(bench.session([token], of: name))
            }
            try require(try await bench.storage.removeUser("ALICE"), is: true)
            try require(try await bench.storage.removeUser("alice"), is: false)
            try require(try await bench.storage.session(tokenHash: [1], at: bench.now) == nil, is: true)
            try require(try await bench.storage.session(tokenHash: [2], at: bench.now) == nil, is: false)
        },
        Requirement("The sessions that expire first end when their user has more than the limit") { bench in
            for name in ["alice", "bob"] {
                try await bench.storage.putUser(User(name: name, passwordHash: "1", createdAt: bench.now))
            }
            try await bench.storage.addSession(bench.session([255], of: "bob"))
            for number in 0...Session.limit {
                var session = bench.session([UInt8(number)], of: "alice")
                session.expiresAt = session.expiresAt + .seconds(number)
                try await bench.storage.addSession(session)
            }
            try require(try await bench.storage.session(tokenHash: [0], at: bench.now) == nil, is: true)
            for number in 1...Session.limit {
                let session = try await bench.storage.session(tokenHash: [UInt8(number)], at: bench.now)
                try require(session == nil, is: false)
            }
            try require(try await bench.storage.session(tokenHash: [255], at: bench.now) == nil, is: false)
        },
        Requirement("The sessions of a user are counted until they expire, and end together") { bench in
            for name in ["Alice", "bob"] {
                try await bench.storage.putUser(User(name: name, passwordHash: "1", createdAt: bench.now))
            }
            for (token, name) in [(UInt8(1), "alice"), (2, "alice"), (3, "bob")] {
                try await bench.storage.addSession(bench.session([token], of: name))
            }
            try require(try await bench.storage.sessionCount(of: "ALICE", at: bench.now), is: 2)
            try require(try await bench.storage.sessionCount(of: "alice", at: bench.now + .seconds(60)), is: 0)
            try await bench.storage.removeSessions(of: "aLICE")
            try await bench.storage.removeSessions(of: "ghost")
            try require(try await bench.storage.sessionCount(of: "alice", at: bench.now), is: 0)
            try require(try await bench.storage.sessionCount(of: "bob", at: bench.now), is: 1)
            try require(try await bench.storage.session(tokenHash: [1], at: bench.now) == nil, is: true)
            try require(try await bench.storage.user("alice")?.passwordHash, is: "1")
        },
        Requirement("A session of somebody who is not there opens nothing") { bench in
            try await bench.storage.addSession(bench.session([1], of: "ghost"))
            try require(try await bench.storage.session(tokenHash: [1], at: bench.now) == nil, is: true)
        },
    ]
}

extension StorageBench {
    fileprivate func session(_ token: [UInt8], of user: String) -> Session {
        Session(tokenHash: token, userName: user, createdAt: now, expiresAt: now + .seconds(60))
    }
}
