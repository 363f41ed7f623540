import Foundation
import Testing

@testable import MartletBackend

struct BackendErrorTests {
    /// The numbers are read from the sources, because some errors need arguments and would be left out of a list.
    @Test func everyErrorHasANumberOfItsOwn() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/MartletBackend")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var numbers: [Int] = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            numbers += text.matches(of: /BackendError\(\s*([0-9]{5}),/).compactMap { Int($0.output.1) }
        }
        #expect(numbers.contains(BackendError.noPayload.number) && numbers.contains(BackendError.noHub.number))
        let counts = Dictionary(numbers.map { ($0, 1) }, uniquingKeysWith: +)
        #expect(counts.filter { $0.value > 1 }.keys.sorted() == [])
    }
}
