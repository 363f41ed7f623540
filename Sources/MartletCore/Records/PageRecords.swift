import MartletModel

/// The refusals and attempts of some members of one page, encoded together. A store writes these bytes to one row,
/// because a row for each refusal takes three times the space and far more time to write.
///
/// Members are in ascending order. `PageRecordsEncoder` describes the layout of the bytes.
public struct PageRecords: Sendable {
    private let bytes: [UInt8]
    private let kinds: [Kind]
    private let refusals: [Entry]
    private let attempts: [Entry]

    /// The maximum number of refusals, and of attempts, in one `PageRecords`.
    public static let entryLimit = 2048

    /// Parses an encoded `PageRecords`.
    /// - Returns: nil unless the bytes are exactly one `PageRecords` with its members in ascending order.
    public init?(_ bytes: [UInt8]) {
        var reader = RecordReader(bytes)
        guard reader.byte() == PageRecordsEncoder.version, let kinds = Self.kinds(&reader),
            let refusals = Self.entries(&reader, kinds.count, areRefusals: true),
            let attempts = Self.entries(&reader, kinds.count, areRefusals: false), reader.isAtEnd
        else { return nil }
        self.bytes = bytes
        self.kinds = kinds
        self.refusals = refusals
        self.attempts = attempts
    }

    private static func kinds(_ reader: inout RecordReader) -> [Kind]? {
        guard let count = reader.count(upTo: 2 * entryLimit) else { return nil }
        var kinds: [Kind] = []
        for _ in 0..<count {
            guard let kind = Kind(&reader) else { return nil }
            kinds.append(kind)
        }
        return kinds
    }

    private static func entries(
        _ reader: inout RecordReader, _ kindCount: Int, areRefusals: Bool
    ) -> [Entry]? {
        guard let count = reader.count(upTo: entryLimit) else { return nil }
        var entries: [Entry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            guard let entry = Entry(&reader, after: entries.last, areRefusals: areRefusals), entry.kind < kindCount
            else { return nil }
            entries.append(entry)
        }
        return entries
    }

    // MARK: Refusals

    public var refusalCount: Int { refusals.count }

    /// Returns the index of the first refusal whose member comes after `member`; `refusalCount` if there is none.
    public func firstRefusal(after member: AudienceMember) -> Int {
        Self.firstIndex(of: refusals) { $0.member > member }
    }

    /// Returns the index of the refusal of a member; nil if it has none.
    public func refusal(of member: AudienceMember) -> Int? {
        let index = Self.firstIndex(of: refusals) { $0.member >= member }
        return index < refusals.count && refusals[index].member == member ? index : nil
    }

    public func member(ofRefusal index: Int) -> AudienceMember { refusals[index].member }

    public func outcome(ofRefusal index: Int) -> OutcomeName { kinds[refusals[index].kind].outcome }

    /// Returns the properties of a refusal that show whether a push was sent, without decoding any text.
    public func facts(ofRefusal index: Int) -> RefusalFacts {
        let kind = kinds[refusals[index].kind]
        return RefusalFacts(
            outcome: kind.outcome, wasSent: kind.origin != nil, hasHandle: refusals[index].handle != nil,
            attempts: kind.number)
    }

    public func recordedRefusal(_ index: Int) -> RecordedRefusal {
        let entry = refusals[index]
        let kind = kinds[entry.kind]
        let refusal = Refusal(
            member: entry.member, handle: entry.handle.map { PushHandle(text: text($0)) }, outcome: kind.outcome,
            reason: kind.reason, at: entry.at, attempts: kind.number, answer: kind.answer(on: entry.connection),
            fate: kind.fate)
        return RecordedRefusal(
            refusal: refusal, registration: entry.registration.map(text), installation: entry.installation.map(text))
    }

    // MARK: Attempts

    public var attemptCount: Int { attempts.count }

    public func member(ofAttempt index: Int) -> AudienceMember { attempts[index].member }

    public func outcome(ofAttempt index: Int) -> OutcomeName { kinds[attempts[index].kind].outcome }

    /// Returns the index of the first attempt whose member comes after `member`; `attemptCount` if there is none.
    public func firstAttempt(after member: AudienceMember) -> Int {
        Self.firstIndex(of: attempts) { $0.member > member }
    }

    /// Returns the attempts of a member, in order.
    public func attempts(of member: AudienceMember) -> [Attempt] {
        attempts[Self.firstIndex(of: attempts) { $0.member >= member }...].prefix { $0.member == member }.map { entry in
            let kind = kinds[entry.kind]
            return Attempt(
                member: entry.member, number: kind.number, outcome: kind.outcome, reason: kind.reason,
                answer: kind.answer(on: entry.connection), at: entry.at, fate: kind.fate)
        }
    }

    public func hasAttempts(of member: AudienceMember) -> Bool {
        let index = Self.firstIndex(of: attempts) { $0.member >= member }
        return index < attempts.count && attempts[index].member == member
    }

    private static func firstIndex(of entries: [Entry], where isPast: (Entry) -> Bool) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if isPast(entries[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func text(_ text: Text) -> String {
        bytes[text.range].withContiguousStorageIfAvailable { bytes in
            switch text.form {
            case .plain: String(decoding: bytes, as: UTF8.self)
            case .digits: HexDigits.text(of: bytes)
            case .numbers: RegistrationIDNumbers(bytes: bytes)?.text ?? ""
            }
        } ?? ""
    }
}

/// A refusal with the ids that its registration had.
public struct RecordedRefusal: Sendable {
    /// The refusal. Its property `registration` is nil, because it is not stored.
    public var refusal: Refusal
    /// The id of the registration; nil if the handle belonged to no registration.
    public var registration: String?
    /// The id of the installation to which the registration belonged.
    public var installation: String?

    public init(refusal: Refusal, registration: String?, installation: String?) {
        self.refusal = refusal
        self.registration = registration
        self.installation = installation
    }
}

/// The properties of a refusal that show whether a push was sent.
public struct RefusalFacts: Hashable, Sendable {
    public var outcome: OutcomeName
    /// True if the push was sent to an origin, even if no answer was received.
    public var wasSent: Bool
    /// False if the device was gone before the push could be sent.
    public var hasHandle: Bool
    public var attempts: Int
}

extension PageRecords {
    /// The properties that many refusals or attempts have in common, such as the outcome. Each distinct `Kind` is
    /// stored only once.
    struct Kind: Hashable {
        var outcome: OutcomeName
        var reason: String
        /// The origin to which the push was sent; nil if nothing was sent.
        var origin: String?
        var status: Int?
        var fate: HandleFate
        /// The number of the attempt; for a refusal, the number of attempts.
        var number: Int
    }

    /// One refusal or attempt. Its texts are not copied: each `Text` is a range of `PageRecords.bytes`.
    fileprivate struct Entry {
        var member: AudienceMember
        var kind: Int
        var at: Timestamp
        var connection: Int?
        var handle: Text?
        var registration: Text?
        var installation: Text?
    }

    fileprivate struct Text {
        enum Form { case plain, digits, numbers }

        var form: Form
        var range: Range<Int>
    }
}

extension PageRecords.Kind {
    fileprivate init?(_ reader: inout RecordReader) {
        guard let flags = reader.byte(), flags < 1 << 4, let outcome = reader.text(), let reason = reader.text(),
            let number = reader.integer()
        else { return nil }
        let (hasOrigin, hasStatus) = (flags & 1 != 0, flags & 2 != 0)
        // A status is part of an answer, which has an origin.
        guard hasOrigin || !hasStatus else { return nil }
        self.init(
            outcome: OutcomeName(rawValue: outcome), reason: reason, fate: PageRecordsEncoder.fates[Int(flags >> 2)],
            number: number)
        if hasOrigin {
            guard let text = reader.text() else { return nil }
            origin = text
        }
        if hasStatus {
            guard let value = reader.integer() else { return nil }
            status = value
        }
    }

    fileprivate func answer(on connection: Int?) -> PushAnswer? {
        origin.map { PushAnswer(origin: $0, status: status, connection: connection) }
    }
}

extension PageRecords.Entry {
    fileprivate init?(_ reader: inout RecordReader, after last: PageRecords.Entry?, areRefusals: Bool) {
        guard let byte = reader.byte() else { return nil }
        let flags = PageRecordsEncoder.Flags(rawValue: byte)
        guard flags.isSubset(of: areRefusals ? .ofRefusals : .ofAttempts), let step = reader.number(),
            let registration = flags.contains(.registration) ? reader.integer64() : 0, let kind = reader.number(),
            let wait = reader.integer64()
        else { return nil }
        let before = last?.member ?? PageRecordsEncoder.start
        member = AudienceMember(
            channel: ChannelID(rawValue: before.channel.rawValue &+ Int64(bitPattern: step)),
            registration: registration)
        // Members must ascend, but several attempts in a row may have the same member.
        if let last { guard member > last.member || !areRefusals && member == last.member else { return nil } }
        self.kind = Int(clamping: kind)
        at = Timestamp(milliseconds: (last?.at.milliseconds ?? 0) &+ wait)
        if flags.contains(.connection) {
            guard let number = reader.integer() else { return nil }
            connection = number
        }
        if flags.contains(.handle) {
            guard let range = reader.range() else { return nil }
            handle = PageRecords.Text(form: flags.contains(.digits) ? .digits : .plain, range: range)
        } else if flags.contains(.digits) {
            return nil
        }
        if flags.contains(.id) {
            let isPacked = flags.contains(.numbers)
            guard let range = isPacked ? reader.range(of: RegistrationIDNumbers.byteCount) : reader.range() else {
                return nil
            }
            self.registration = PageRecords.Text(form: isPacked ? .numbers : .plain, range: range)
        } else if flags.contains(.numbers) {
            return nil
        }
        if flags.contains(.installation) {
            guard let range = reader.range() else { return nil }
            installation = PageRecords.Text(form: .plain, range: range)
        }
    }
}

/// Reads numbers and texts from bytes, never beyond their end.
private struct RecordReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { index == bytes.count }

    mutating func byte() -> UInt8? {
        guard index < bytes.count else { return nil }
        defer { index += 1 }
        return bytes[index]
    }

    /// Reads a number. Each byte contains seven bits of the number, the lowest bits first; only the last byte is below
    /// 128.
    mutating func number() -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = byte() {
            // The tenth byte can only have the highest bit of the number. A last byte of zero is refused, so that every
            // number has exactly one valid encoding.
            guard shift < 63 || byte <= 1, shift == 0 || byte != 0 else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            guard byte >= 0x80 else { return number }
            shift += 7
        }
        return nil
    }

    /// Reads a number that may be negative: the lowest bit is the sign.
    mutating func integer64() -> Int64? {
        number().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    mutating func integer() -> Int? { integer64().map { Int($0) } }

    mutating func count(upTo limit: Int) -> Int? {
        guard let count = number(), count <= UInt64(limit) else { return nil }
        return Int(count)
    }

    mutating func range(of count: Int) -> Range<Int>? {
        guard count <= bytes.count - index else { return nil }
        defer { index += count }
        return index..<index + count
    }

    /// Reads a length, and returns the range of that many bytes after it.
    mutating func range() -> Range<Int>? {
        guard let count = count(upTo: bytes.count - index) else { return nil }
        return range(of: count)
    }

    mutating func text() -> String? {
        range().flatMap { String(utf8: bytes[$0]) }
    }
}
