import Foundation

/// A value behind a lock. The standard library's own, `Mutex`, needs newer systems than the SDK does.
///
/// `@unchecked Sendable`: `lock` is held wherever `value` is touched.
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
