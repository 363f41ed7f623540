import MartletCrypto
import MartletHTTP

/// The tracking id of a request: the id that the caller sent if it is usable, otherwise a random one.
struct TrackingID: Hashable {
    let text: String

    init(of request: HTTPRequest) {
        text = Self.sent(with: request) ?? Self.random()
    }

    /// Returns the id that the caller sent; nil if it sent none, or one that is not usable. The Java client sends the
    /// same id when it repeats a request.
    static func sent(with request: HTTPRequest) -> String? {
        request.fields["trackingid"].flatMap { isUsable($0) ? $0 : nil }
    }

    /// Adds the id to an answer, as the original service does for every answer.
    func mark(_ response: inout HTTPResponse) {
        response.fields.append(HTTPField("trackingid", text))
        response.fields.append(HTTPField("x-ms-correlation-request-id", text))
    }

    /// Returns true if the id has 1 to 128 characters, all of which are safe in a header, a document and a log line.
    private static func isUsable(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Returns a random UUID (version 4, RFC 9562).
    static func random() -> String {
        var bytes = RandomBytes.generate(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for digit in Hex.encode(bytes).utf8 {
            switch text.count {
            case 8, 13, 18, 23: text.append(UInt8(ascii: "-"))
            default: break
            }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
