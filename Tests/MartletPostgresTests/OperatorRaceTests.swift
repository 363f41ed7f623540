import MartletCore
import MartletModel
import Testing

@testable import MartletPostgres

/// Two nodes decide about operators as one does.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct OperatorRaceTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    private func withNodes(_ work: ([PostgresStorage]) async throws -> Void) async throws {
        let options = TestDatabase.fresh()
        try await TestDatabase.with(options) { first in
            let second = try await TestDatabase.open(options)
            do {
                try await work([first, second])
                await second.close()
            } catch {
                await second.close()
                throw error
            }
        }
    }

    private func link(_ token: UInt8, of name: String) -> OperatorLink {
        OperatorLink(tokenHash: [token], kind: .invitation, operatorName: name, expiresAt: now + .seconds(900))
    }

    private func session(_ token: UInt8, of name: String) -> OperatorSession {
        OperatorSession(
            tokenHash: [token], operatorName: name, createdAt: now, usedAt: now, confirmedAt: now, address: "::1",
            agent: "a\u{0}b")
    }

    private func signUp(_ name: String, _ token: UInt8, on node: PostgresStorage) async throws {
        let entry = Operator(name: name, roles: RoleGrants([RoleGrant(.admin)]), createdAt: now)
        try await node.invite(entry, by: link(token, of: name))
        _ = try await node.useLink(tokenHash: [token], passwordHash: "p", adding: session(token, of: name))
    }

    @Test func ofTwoAdministratorsWhoResignAtOnceOneStays() async throws {
        try await withNodes { nodes in
            for round in 0..<5 {
                try await signUp("a\(round)", UInt8(2 * round + 1), on: nodes[0])
                try await signUp("b\(round)", UInt8(2 * round + 2), on: nodes[1])
                let names = try await nodes[0].operators(at: now).filter { !$0.entry.isDisabled }.map(\.entry.name)
                let stayed = try await withThrowingTaskGroup { group in
                    for (index, name) in names.enumerated() {
                        group.addTask {
                            if case .isLastAdmin = try await nodes[index % 2].change(name, .isDisabled(true)) {
                                return 1
                            }
                            return 0
                        }
                    }
                    return try await group.reduce(0, +)
                }
                #expect(stayed == 1)
            }
        }
    }

    @Test func ofSeveralWhoUseALinkAtOnceOneSignsIn() async throws {
        try await withNodes { nodes in
            for round in 0..<5 as Range<UInt8> {
                let entry = Operator(name: "ops", roles: RoleGrants([RoleGrant(.admin)]), createdAt: now)
                try await nodes[0].invite(entry, by: link(round, of: "ops"))
                let signedIn = try await withThrowingTaskGroup { group in
                    for index in 0..<4 as Range<UInt8> {
                        group.addTask {
                            let session = session(100 + 10 * round + index, of: "ops")
                            let node = nodes[Int(index) % 2]
                            return try await node.useLink(tokenHash: [round], passwordHash: "p", adding: session) != nil
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(signedIn == 1)
                #expect(try await nodes[1].operatorSessions(of: "OPS").count == 1)
            }
        }
    }

    @Test func aSecretThatWasSealedWithAnotherKeyIsTold() async throws {
        try await withNodes { nodes in
            try await signUp("ops", 1, on: nodes[0])
            #expect(try await nodes[0].beginFactor([7], of: "ops"))
            try await nodes[0].transaction { connection, patience throws(DatabaseFailure) in
                _ = try connection.run(
                    Batch(.rare([], "UPDATE operator_factors SET sealed_secret = '\\x00'")), patience)
            }
            await #expect(throws: StorageError.self) { _ = try await nodes[1].factor(of: "ops") }
        }
    }
}
