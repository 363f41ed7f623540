import Foundation

/// A value protected by a lock. The standard library's `Mutex` requires newer systems than the SDK does.
///
/// `@unchecked Sendable`: `value` is only accessed while `lock` is held.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: sending Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}
