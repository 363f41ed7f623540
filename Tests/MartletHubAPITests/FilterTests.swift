import Foundation
import MartletCore
import MartletHTTP
import MartletTesting
import Testing

@testable import MartletHubAPI

struct FilterTests {
    @Test(arguments: [
        ("ChannelUri eq 'h'", ["channeluri": "h"]),
        ("deviceToken eq 'H'", ["devicetoken": "H"]),
        ("  a   EQ  'b' ", ["a": "b"]),
        ("a eq 'it''s'", ["a": "it's"]),
        ("a eq ''", ["a": ""]),
        ("a eq 'x and y'", ["a": "x and y"]),
        ("a eq 'b'and c eq 'd'", ["a": "b", "c": "d"]),
        ("Endpoint eq 'e' AND P256DH eq 'p' and Auth eq 's'", ["endpoint": "e", "p256dh": "p", "auth": "s"]),
    ])
    func filtersAreRead(text: String, terms: [String: String]) throws {
        let filter = try ChannelFilter(text)
        #expect(Dictionary(uniqueKeysWithValues: filter.terms.map { ($0.name, $0.value) }) == terms)
    }

    @Test(arguments: [
        ("", 1), ("a", 2), ("a eq", 5), ("a eq b", 6), ("a eq 'b", 6), ("a ne 'b'", 3), ("a eq 'b' or c eq 'd'", 10),
        ("a eq 'b' and", 13), ("'a' eq 'b'", 1), ("a eq 'b' 'c'", 10),
    ])
    func invalidFiltersAreRefusedWithThePosition(text: String, position: Int) {
        #expect {
            _ = try ChannelFilter(text)
        } throws: { error in
            (error as? HubAPIError)?.sentence.hasSuffix(" at character \(position)") == true
        }
    }

    @Test func aFilterHasBounds() {
        #expect(throws: HubAPIError.self) { try ChannelFilter("a eq '\(String(repeating: "x", count: 9000))'") }
        let terms = (0..<9).map { "a\($0) eq 'b'" }.joined(separator: " and ")
        #expect(throws: HubAPIError.self) { try ChannelFilter(terms) }
    }

    @Test func everyTruncationOfAFilterIsHarmless() {
        let text = "Endpoint eq 'it''s %41' and Auth eq 'x'"
        for length in 0...text.utf8.count { _ = try? ChannelFilter(String(text.prefix(length))) }
        #expect(throws: Never.self) { try ChannelFilter(text) }
    }
}

struct PagingTests {
    @Test("Trap 28: a token is made of letters, digits, - and _ only, and reads back")
    func aTokenSurvivesURLs() throws {
        for after in [nil, 0, 1, 255, Int64.max] {
            let first = try PageRequest(try target(""), scope: "s")
            let token = first.token(PagePosition(filter: 3, after: after))
            #expect(
                token.utf8.allSatisfy {
                    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8.contains($0)
                })
            let next = try PageRequest(try target("continuationtoken=\(token)"), scope: "s")
            #expect(next.position == PagePosition(filter: 3, after: after))
        }
    }

    @Test func aPageHasAtMostAHundredEntries() throws {
        #expect(try PageRequest(try target(""), scope: "").limit == 100)
        #expect(try PageRequest(try target("$top=7"), scope: "").limit == 7)
        #expect(try PageRequest(try target("$top=2147483647"), scope: "").limit == 100)
        for bad in ["0", "-1", "x", "", "1.5", "99999999999999999999"] {
            #expect(throws: HubAPIError.self) { try PageRequest(try target("$top=\(bad)"), scope: "") }
        }
    }

    @Test func aChangedTokenIsRefused() throws {
        let token = try PageRequest(try target(""), scope: "s").token(PagePosition(filter: 0, after: 9))
        for position in token.indices {
            let other = token[position] == "A" ? "B" : "A"
            let changed = token[..<position] + other + token[token.index(after: position)...]
            #expect(throws: HubAPIError.self) {
                try PageRequest(try target("continuationtoken=\(changed)"), scope: "s")
            }
        }
    }

    private func target(_ query: String) throws -> HTTPTarget {
        try #require(HTTPTarget("/demo/registrations?\(query)"))
    }

    @Test("Pages follow each other to the end, whatever their size", arguments: [1, 2, 3, 7, 8])
    func pagesFollowEachOther(size: Int) async throws {
        let fixture = try await HubFixture()
        for number in 1...7 { try await fixture.register("north\(number)", as: "\(number)", tags: "t") }
        var found: [String] = []
        var query = "$top=\(size)"
        repeat {
            let response = try await fixture.send(.get, "/demo/tags/T/registrations?\(query)")
            found += response.text.components(separatedBy: "<RegistrationId>").dropFirst().map { String($0.prefix(1)) }
            #expect(response.fields["x-ms-continuationtoken"] != "")
            query = response.fields["x-ms-continuationtoken"].map { "$top=\(size)&ContinuationToken=\($0)" } ?? ""
        } while !query.isEmpty && found.count < 20
        #expect(found == (1...7).map(String.init))
    }
}
