/// Carries an object that is owned by a loop through code that the compiler cannot prove to stay on the loop.
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
