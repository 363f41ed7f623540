import MartletCore

/// Runs blocking file operations one after another, on a thread of its own.
actor FileThread {
    private nonisolated let executor = ThreadExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run<Value: Sendable>(
        _ work: @Sendable () throws(ContainerError) -> Value
    ) throws(ContainerError) -> Value {
        try work()
    }

    func perform(_ work: @Sendable () -> Void) {
        work()
    }
}
