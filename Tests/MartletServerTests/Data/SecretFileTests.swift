import Foundation
import Testing

@testable import MartletServer

struct SecretFileTests {
    private let directory = TemporaryDirectory()

    private func file(of count: Int) throws -> String {
        let path = "\(directory.path)/file"
        try Data(repeating: UInt8(ascii: "a"), count: count).write(to: URL(fileURLWithPath: path))
        #expect(chmod(path, 0o600) == 0)
        return path
    }

    @Test func aFileOfExactlyTheLimitIsRead() throws {
        #expect(try SecretFile.read(try file(of: 100), limit: 100)?.count == 100)
        #expect(try SecretFile.readAll(try file(of: 2_000_000))?.count == 2_000_000)
    }

    @Test func aLongerFileIsRefusedAndNotCut() throws {
        let path = try file(of: 101)
        let error = #expect(throws: ServerError.self) { try SecretFile.read(path, limit: 100) }
        #expect(error?.description.contains("\(path) has more than 100 bytes") == true)
        #expect(throws: ServerError.self) { try SecretFile.readOwn(try file(of: 1 << 20 + 1)) }
    }

    @Test func aKeyFileThatIsTooLongIsNotTakenInPart() throws {
        let path = try file(of: 4097)
        let error = #expect(throws: ServerError.self) {
            try KeyEnvironment.text { $0 == "MARTLET_SECRET_KEY_FILE" ? path : nil }
        }
        #expect(error?.description.contains("more than 4096 bytes") == true)
    }
}
