import MartletCore
import MartletModel

/// The members of an audience that were read, in order.
struct MemberRows: Sendable {
    /// The snapshot that identifies the registrations that were read; nil if the hub no longer exists.
    let snapshot: AudienceSnapshot?
    /// The number of registrations that the sparse form found by their tags. The form stops counting at one more than
    /// `AudienceStatement.sparseLimit`.
    private(set) var found: Int64 = 0
    private var members: [AudienceMember] = []
    private var bindings: [TemplateBinding.ID] = []
    private var handles: [UInt8] = []
    private var handleEnds: [Int] = []

    init(_ snapshot: AudienceSnapshot?) {
        self.snapshot = snapshot
    }

    /// - Parameter row: The row of an `AudienceStatement`.
    init(_ row: Row) {
        self.init(
            row.isNull(0) ? nil : AudienceSnapshot(change: row.integer(0), registration: row.integer(1)))
        found = row.integer(2)
        guard !row.isNull(3) else { return }
        let channels = Self.numbers(row, 3)
        let (sequences, templates, variables) = (Self.numbers(row, 4), Self.numbers(row, 5), Self.numbers(row, 6))
        reserve(channels.count)
        for index in channels.indices {
            members.append(
                AudienceMember(channel: ChannelID(rawValue: channels[index]), registration: sequences[index]))
            bindings.append(TemplateBinding.ID(template: templates[index], variables: variables[index]))
        }
        guard !row.isNull(7) else { return }
        row.withBytes(7) { lengths in
            for offset in stride(from: 0, to: lengths.count, by: 4) {
                handleEnds.append((handleEnds.last ?? 0) + Int(lengths.bigEndian(at: offset) as Int32))
            }
        }
        handles = row.bytes(8)
    }

    private static func numbers(_ row: Row, _ column: Int32) -> [Int64] {
        row.withBytes(column) { bytes in
            stride(from: 0, to: bytes.count, by: 8).map { bytes.bigEndian(at: $0) }
        }
    }

    mutating func reserve(_ count: Int) {
        members.reserveCapacity(count)
        bindings.reserveCapacity(count)
        handleEnds.reserveCapacity(count)
    }

    var count: Int { members.count }

    func member(_ index: Int) -> AudienceMember { members[index] }
    func template(_ index: Int) -> Int64 { bindings[index].template }
    func variables(_ index: Int) -> Int64 { bindings[index].variables }

    /// Calls `read` with the text of the handle of the member at an index.
    /// - Parameter digits: A buffer for the hexadecimal digits of a packed handle. It grows as needed.
    func withHandle(
        _ index: Int, _ digits: inout [UInt8], _ read: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        let start = index == 0 ? 0 : handleEnds[index - 1]
        handles.withUnsafeBytes { all in
            let bytes = UnsafeRawBufferPointer(rebasing: all[start..<handleEnds[index]])
            let content = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
            guard StoredForm.isPacked(bytes) else { return content.withMemoryRebound(to: UInt8.self) { read($0) } }
            let count = 2 * content.count
            if digits.count < count { digits = [UInt8](repeating: 0, count: count) }
            digits.withUnsafeMutableBufferPointer { buffer in
                StoredForm.unpack(content, into: buffer)
                read(UnsafeBufferPointer(rebasing: UnsafeBufferPointer(buffer)[..<count]))
            }
        }
    }
}

// MARK: Appending

extension MemberRows {
    /// Appends a registration of a pack.
    mutating func append(_ pack: Pack, _ index: Int, withHandle: Bool) {
        members.append(
            AudienceMember(channel: ChannelID(rawValue: pack.channel(index)), registration: pack.sequence(index)))
        bindings.append(
            TemplateBinding.ID(template: pack.template(index), variables: pack.variables(index)))
        guard withHandle else { return }
        handles += pack.handle(index)
        handleEnds.append(handles.count)
    }

    /// Appends a member of other rows.
    mutating func append(_ other: MemberRows, _ index: Int) {
        members.append(other.members[index])
        bindings.append(other.bindings[index])
        guard !other.handleEnds.isEmpty else { return }
        handles += other.handles[(index == 0 ? 0 : other.handleEnds[index - 1])..<other.handleEnds[index]]
        handleEnds.append(handles.count)
    }
}
