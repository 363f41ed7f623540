import FuzzDriver
import MartletModel

/// Input: the JSON of an installation. Checks that a parsed installation, written as JSON, is parsed to the same one.
@main
struct FuzzInstallation {
    static func main() {
        fuzz { bytes, count in
            let document = Array(UnsafeBufferPointer(start: bytes, count: count))
            guard let read = try? Installation(parsing: document) else { return 0 }
            let written = read.json
            guard let again = try? Installation(parsing: written.bytes) else {
                preconditionFailure("what was written is no installation")
            }
            precondition(again.json == written, "an installation reads as it was written")
            return 0
        }
    }
}
