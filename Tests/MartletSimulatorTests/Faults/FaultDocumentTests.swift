import Foundation
import MartletPush
import Testing

@testable import MartletSimulator

/// `Docs/Simulator.md` tells the truth.
struct FaultDocumentTests {
    private static func rules() throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardized
        let text = try String(contentsOf: root.appendingPathComponent("Docs/Simulator.md"), encoding: .utf8)
        let faults = text.components(separatedBy: "### On the network").last ?? ""
        return faults.components(separatedBy: "\n").filter { $0.hasPrefix("| `") }.compactMap {
            $0.components(separatedBy: "`").dropFirst().first
        }
    }

    @Test func everyFaultIsReadAsTheDocumentSpellsIt() throws {
        let rules = try Self.rules()
        #expect(rules.count > 35)
        for rule in rules { #expect(throws: Never.self, "\(rule)") { try FaultRule(text: rule[...]) } }
    }

    @Test func everyFaultOfAServiceIsInTheDocument() throws {
        let names = Set(try Self.rules().compactMap { $0.split(separator: " ").first.map(String.init) })
        for service in PushPlatforms.simulators(acceptsAnyKey: true) {
            for fault in type(of: service).faults where fault.rawValue.first?.isLowercase == true {
                #expect(names.contains(fault.rawValue))
            }
        }
    }
}
