import MartletModel

/// Encodes a `PageRecords`: the version; the distinct kinds (outcome, reason, origin, status, fate, number); the
/// refusals; the attempts. Each list begins with its count.
///
/// A refusal or an attempt begins with a byte of flags. Then come its channel minus the channel of the previous entry
/// in the list, the registration if it is not 0, the index of the kind, and its time minus the time of the previous
/// entry. If the flags say so, the connection, the handle, the id of the registration and the id of the installation
/// follow.
///
/// A handle of hexadecimal digits is stored in half as many bytes. A registration id in the hub's own form is stored in
/// 16 bytes. A number has seven bits in each byte, the lowest first; if it can be negative, its lowest bit is the sign.
/// A text is preceded by its length.
public struct PageRecordsEncoder {
    private var kinds: [PageRecords.Kind: Int] = [:]
    private var lastKind: (kind: PageRecords.Kind, index: Int)?
    private var kindBytes: [UInt8] = []
    private var refusals = EntryList()
    private var attempts = EntryList()

    public init() {
        refusals.bytes.reserveCapacity(16_384)
    }

    /// The id of the registration that a refusal is about.
    public enum Registration: Sendable {
        case numbers(RegistrationIDNumbers)
        case text(String)

        public init(_ id: String) {
            self = RegistrationIDNumbers(id).map(Self.numbers) ?? .text(id)
        }
    }

    public var refusalCount: Int { refusals.count }
    public var attemptCount: Int { attempts.count }

    /// True if no further entry should be appended. Each `PageRecords` is kept small, because the look-up of one member
    /// reads all of it.
    public var isFull: Bool {
        refusals.count + attempts.count >= 512 || refusals.bytes.count + attempts.bytes.count >= 65_536
    }

    /// Appends a refusal. Members must be in ascending order.
    public mutating func append(_ refusal: Refusal, _ registration: Registration?, installation: String?) {
        let kind = index(
            of: PageRecords.Kind(
                outcome: refusal.outcome, reason: refusal.reason, origin: refusal.answer?.origin,
                status: refusal.answer?.status, fate: refusal.fate, number: refusal.attempts))
        refusals.append(refusal.member, kind, refusal.at, connection: refusal.answer?.connection)
        if let handle = refusal.handle { refusals.append(handle: handle.text) }
        switch registration {
        case .numbers(let numbers):
            refusals.set([.id, .numbers])
            numbers.append(to: &refusals.bytes)
        case .text(let id):
            refusals.set(.id)
            refusals.bytes.append(text: id)
        case nil: break
        }
        if let installation {
            refusals.set(.installation)
            refusals.bytes.append(text: installation)
        }
    }

    /// Appends an attempt. Members must be in ascending order, and the attempts of one member in the order in which
    /// they were made. An attempt that reached another channel (`followed`) cannot be appended; it is stored in a row
    /// instead.
    public mutating func append(_ attempt: Attempt) {
        precondition(attempt.followed == nil, "an attempt that was followed has a row of its own")
        let kind = index(
            of: PageRecords.Kind(
                outcome: attempt.outcome, reason: attempt.reason, origin: attempt.answer?.origin,
                status: attempt.answer?.status, fate: attempt.fate, number: attempt.number))
        attempts.append(attempt.member, kind, attempt.at, connection: attempt.answer?.connection)
    }

    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(kindBytes.count + refusals.bytes.count + attempts.bytes.count + 16)
        bytes.append(Self.version)
        bytes.append(number: UInt64(kinds.count))
        bytes += kindBytes
        for list in [refusals, attempts] {
            bytes.append(number: UInt64(list.count))
            bytes += list.bytes
        }
        return bytes
    }

    private mutating func index(of kind: PageRecords.Kind) -> Int {
        if let lastKind, lastKind.kind == kind { return lastKind.index }
        let index = kinds[kind] ?? add(kind)
        lastKind = (kind, index)
        return index
    }

    private mutating func add(_ kind: PageRecords.Kind) -> Int {
        let index = kinds.count
        kinds[kind] = index
        let fate = Self.fates.firstIndex(of: kind.fate) ?? 0
        kindBytes.append((kind.origin == nil ? 0 : 1) | (kind.status == nil ? 0 : 2) | UInt8(fate) << 2)
        kindBytes.append(text: kind.outcome.rawValue)
        kindBytes.append(text: kind.reason)
        kindBytes.append(integer: Int64(kind.number))
        if let origin = kind.origin { kindBytes.append(text: origin) }
        if let status = kind.status { kindBytes.append(integer: Int64(status)) }
        return index
    }

    static let version: UInt8 = 1

    /// The fates, each at the index that stands for it in encoded `PageRecords`. These indices must never change.
    static let fates: [HandleFate] = [.kept, .removed, .quarantined, .moved]

    /// Stands for the entry before the first one: the channel of the first entry is stored as the difference from this
    /// member.
    static let start = AudienceMember.none

    /// The optional properties that an entry has, and the forms in which they are stored.
    struct Flags: OptionSet {
        let rawValue: UInt8

        static let registration = Flags(rawValue: 1)
        static let connection = Flags(rawValue: 2)
        static let handle = Flags(rawValue: 4)
        /// The handle consists of hexadecimal digits, and is stored as half as many bytes.
        static let digits = Flags(rawValue: 8)
        static let id = Flags(rawValue: 16)
        /// The id is stored as `RegistrationIDNumbers`.
        static let numbers = Flags(rawValue: 32)
        static let installation = Flags(rawValue: 64)

        static let ofAttempts: Flags = [.registration, .connection]
        static let ofRefusals: Flags = [
            .registration, .connection, .handle, .digits, .id, .numbers, .installation,
        ]
    }
}

/// The encoded refusals, or the encoded attempts, of one `PageRecords`.
private struct EntryList {
    var bytes: [UInt8] = []
    var count = 0
    private var start = 0
    private var last = PageRecordsEncoder.start
    private var lastAt: Int64 = 0

    /// Appends an entry without its handle and ids, which may be appended afterwards.
    mutating func append(_ member: AudienceMember, _ kind: Int, _ at: Timestamp, connection: Int?) {
        start = bytes.count
        bytes.append(0)
        bytes.append(number: UInt64(bitPattern: member.channel.rawValue &- last.channel.rawValue))
        if member.registration != 0 {
            set(.registration)
            bytes.append(integer: member.registration)
        }
        bytes.append(number: UInt64(kind))
        bytes.append(integer: at.milliseconds &- lastAt)
        if let connection {
            set(.connection)
            bytes.append(integer: Int64(connection))
        }
        last = member
        lastAt = at.milliseconds
        count += 1
    }

    mutating func set(_ flags: PageRecordsEncoder.Flags) {
        bytes[start] |= flags.rawValue
    }

    mutating func append(handle: String) {
        set(.handle)
        let length = bytes.count
        // Reserves the byte for the length of the packed handle, which is below 128.
        bytes.append(0)
        guard handle.utf8.count < 256, HexDigits.appendBytes(of: handle, to: &bytes) else {
            bytes.removeLast()
            return bytes.append(text: handle)
        }
        bytes[length] = UInt8(bytes.count - length - 1)
        set(.digits)
    }
}

extension [UInt8] {
    fileprivate mutating func append(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    fileprivate mutating func append(integer: Int64) {
        append(number: UInt64(bitPattern: integer << 1 ^ integer >> 63))
    }

    fileprivate mutating func append(text: String) {
        append(number: UInt64(text.utf8.count))
        append(contentsOf: text.utf8)
    }
}
