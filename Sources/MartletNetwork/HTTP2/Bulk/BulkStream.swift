/// One request of a bulk session on its way: a slot in the ring, without an allocation of its own.
struct BulkStream {
    /// 0 where the slot is free.
    var id: Int32 = 0
    /// Which of the session's runs the request was drawn from, or -1 for a request of its own.
    var run: Int32 = -1
    var item: UInt32 = 0
    /// How much of its body has been sent.
    var sent: Int32 = 0
    /// What the peer lets this stream send.
    var window: Int = 0
    /// Whether all of the body has been sent.
    var isWritten = false
    /// When its head was written, on the session's clock.
    var startedAt: UInt32 = 0
    /// How many answers had come before, in all.
    var answersBefore: UInt32 = 0
}

/// The streams of a bulk session, found by their id without a dictionary: stream ids are odd and rise, so the half of an
/// id modulo a power of two is its slot. Where the slot of the next id is taken, that id is left out.
struct BulkStreamRing {
    private var indices: [BulkStream]
    private(set) var count = 0

    /// - Parameter capacity: A power of two.
    init(capacity: Int) {
        indices = Array(repeating: BulkStream(), count: capacity)
    }

    var capacity: Int { indices.count }

    private func index(of id: Int32) -> Int { Int(id >> 1) & (indices.count - 1) }

    /// The stream of an id, if it is open.
    func isOpen(_ id: Int32) -> Bool { id > 0 && indices[index(of: id)].id == id }

    /// - Parameter id: Of an open stream.
    subscript(id: Int32) -> BulkStream {
        get { indices[index(of: id)] }
        set { indices[index(of: id)] = newValue }
    }

    /// Whether a stream of this id could be opened.
    func isFree(_ id: Int32) -> Bool { indices[index(of: id)].id == 0 }

    /// The first id from one on that could be opened; nil where the ids are used up or the ring is half full.
    func firstFree(from id: Int32) -> Int32? {
        var id = id
        guard count * 2 <= capacity else { return nil }
        while id < Int32.max - 2 {
            if isFree(id) { return id }
            id += 2
        }
        return nil
    }

    mutating func open(_ stream: BulkStream) {
        indices[index(of: stream.id)] = stream
        count += 1
    }

    @discardableResult
    mutating func close(_ id: Int32) -> BulkStream? {
        let index = index(of: id)
        guard id > 0, indices[index].id == id else { return nil }
        defer {
            indices[index].id = 0
            count -= 1
        }
        return indices[index]
    }

    /// Makes room for more streams at once.
    mutating func grow(to capacity: Int) {
        let open = all
        self = BulkStreamRing(capacity: capacity)
        for stream in open { self.open(stream) }
    }

    var all: [BulkStream] { indices.filter { $0.id != 0 } }

    mutating func changeWindows(by difference: Int) {
        for index in indices.indices where indices[index].id != 0 { indices[index].window += difference }
    }
}
