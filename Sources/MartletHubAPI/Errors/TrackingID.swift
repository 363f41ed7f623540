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
        // From the system, as the id of a notification: OpenSSL's generator is for secrets, and takes ten times as long.
        var random = SystemRandomNumberGenerator()
        let high = random.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = random.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return String(unsafeUninitializedCapacity: 36) { text in
            var (place, digits) = (0, 0)
            while place < 36 {
                switch place {
                case 8, 13, 18, 23: text[place] = UInt8(ascii: "-")
                default:
                    let word = digits < 16 ? high : low
                    let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - digits % 16 * 4)) & 15
                    text[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                    digits += 1
                }
                place += 1
            }
            return place
        }
    }
}
