/// Has a value that holds it passed by its address.
///
/// Swift 6.3 crashes (in `SILGenCleanup`) where the top level of a `main.swift` awaits what throws a type that fits into
/// registers and holds references, and catches it by `catch let error as PushClientError` alone. By address it compiles;
/// `Scripts/check-documentation` compiles such a file.
struct AddressOnly: Hashable, Sendable {
    /// An existential has no size that is known to who passes it on.
    private let content: any Sendable = ()

    static func == (left: AddressOnly, right: AddressOnly) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
