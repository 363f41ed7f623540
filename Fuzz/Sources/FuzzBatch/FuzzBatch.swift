import FuzzDriver

@testable import MartletHubAPI

/// Input: the body of a direct send to many handles, with its content type on the first line. Checks that it is refused,
/// or that the parsed batch is within its limits.
@main
struct FuzzBatch {
    static func main() {
        fuzz { bytes, count in
            let input = UnsafeBufferPointer(start: bytes, count: count)
            let end = input.firstIndex(of: 0x0A) ?? count
            let type = String(decoding: input[..<end], as: UTF8.self)
            guard let batch = try? DirectBatch(Array(input[end...].dropFirst()), contentType: type) else { return 0 }
            precondition(batch.message.count <= SendRequest.sizeLimit, "the message is within the limit")
            precondition((1...DirectBatch.deviceLimit).contains(batch.devices.count), "there are devices")
            precondition(!batch.devices.contains(""), "no handle is empty")
            return 0
        }
    }
}
