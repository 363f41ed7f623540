import FuzzDriver

@testable import MartletHTTP

/// Input: a multipart form, with its content type on the first line. Checks that it is parsed to the same result, or
/// refused with the same error, as a whole and in pieces, and that the limits hold.
@main
struct FuzzFormData {
    typealias Event = FormDataParser.Event

    static func main() {
        fuzz { bytes, count in
            let input = UnsafeBufferPointer(start: bytes, count: count)
            let end = input.firstIndex(of: 0x0A) ?? count
            let type = String(decoding: input[..<end], as: UTF8.self)
            let body = Array(input[end...].dropFirst())
            let whole = FuzzFormData.read(body, type, pieceBytes: max(1, body.count))
            for pieceBytes in [1, 2, 3, 7, 64] {
                precondition(
                    FuzzFormData.read(body, type, pieceBytes: pieceBytes) == whole, "pieces make no difference")
            }
            return 0
        }
    }

    static func read(_ body: [UInt8], _ type: String, pieceBytes: Int) -> Result<[Event], FormDataError> {
        let limits = FormDataParser.Limits(parts: 4, headerBytes: 256, fieldBytes: 64, fileBytes: 512)
        var events: [Event] = []
        var fileBytes = 0
        do throws(FormDataError) {
            var parser = try FormDataParser(contentType: type, fileField: "file", limits: limits)
            for start in stride(from: 0, to: body.count, by: pieceBytes) {
                for event in try parser.read(Array(body[start..<min(start + pieceBytes, body.count)])) {
                    check(event, &fileBytes)
                    if case .bytes(let more) = event, case .bytes(let bytes) = events.last {
                        events[events.count - 1] = .bytes(bytes + more)
                    } else {
                        events.append(event)
                    }
                }
            }
            try parser.finish()
            return .success(events)
        } catch {
            return .failure(error)
        }
    }

    static func check(_ event: Event, _ fileBytes: inout Int) {
        switch event {
        case .field(let name, let value):
            precondition(!name.isEmpty && value.utf8.count <= 64, "a field is within its limit")
        case .file: fileBytes = 0
        case .bytes(let bytes):
            fileBytes += bytes.count
            precondition(!bytes.isEmpty && fileBytes <= 512, "a file is within its limit")
        case .fileEnd: break
        }
    }
}
