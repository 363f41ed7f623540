import Testing

@testable import MartletCore

struct MessageIDTests {
    /// What `openssl mac -macopt size:16 SIPHASH` prints for inputs 00 01 02 … under the key 00 01 … 0f.
    @Test(arguments: [
        (0, "a3817f04ba25a8e66df67214c7550293"),
        (1, "da87c1d86b99af44347659119b22fc45"),
        (2, "8177228da4a45dc7fca38bdef60affe4"),
        (24, "2db479ae78bd50d8882a8a178a6132ad"),
    ])
    func sipHashGivesThePublishedValues(count: Int, hex: String) {
        var hash = SipHash(key: (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908))
        for byte in 0..<count { hash.combine(UInt8(byte)) }
        let (first, second) = hash.finalize()
        #expect(Self.hex(first) + Self.hex(second) == hex)
    }

    @Test func wordsAreHashedLikeTheirBytes() {
        var words = SipHash(key: (1, 2))
        var bytes = SipHash(key: (1, 2))
        words.combine(UInt8(9))
        bytes.combine(UInt8(9))
        words.combine(UInt64(0x0807_0605_0403_0201))
        for byte in 1...8 { bytes.combine(UInt8(byte)) }
        #expect(words.finalize() == bytes.finalize())
    }

    @Test func aMessageIDIsAUUIDInLowerCase() {
        let id = MessageID(high: .max, low: .max).description
        #expect(id == "ffffffff-ffff-8fff-bfff-ffffffffffff")
        #expect(MessageID(high: 0, low: 0).description == "00000000-0000-8000-8000-000000000000")
    }

    @Test func theSamePushHasTheSameIDAndAnotherOneAnother() {
        let key = MessageIDKey(1, 2)
        let notification = NotificationID(high: 3, low: 4)
        let id = key.ids(of: notification)[AudienceMember(channel: ChannelID(rawValue: 5))]
        #expect(id == key.ids(of: notification)[AudienceMember(channel: ChannelID(rawValue: 5))])
        #expect(id != key.ids(of: notification)[AudienceMember(channel: ChannelID(rawValue: 6))])
        #expect(id != key.ids(of: notification)[AudienceMember(channel: ChannelID(rawValue: 5), registration: 7)])
        #expect(id != key.ids(of: NotificationID(high: 3, low: 5))[AudienceMember(channel: ChannelID(rawValue: 5))])
        #expect(id != MessageIDKey(1, 3).ids(of: notification)[AudienceMember(channel: ChannelID(rawValue: 5))])
    }

    private static func hex(_ word: UInt64) -> String {
        (0..<8).map { index in
            let text = String(UInt8(truncatingIfNeeded: word >> UInt64(8 * index)), radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
    }
}
