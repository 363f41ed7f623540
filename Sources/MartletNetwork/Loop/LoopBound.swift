/// Wraps an object that a loop owns, so that `@Sendable` closures can capture the object. Only code on the loop can use
/// it.
///
/// @unchecked Sendable because `value` traps on any other thread.
struct LoopBound<Value>: @unchecked Sendable {
    let loop: EventLoop
    private let bound: Value

    init(_ value: Value, loop: EventLoop) {
        self.loop = loop
        bound = value
    }

    var value: Value {
        loop.preconditionCurrent()
        return bound
    }
}
