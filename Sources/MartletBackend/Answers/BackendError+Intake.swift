import MartletCore

extension BackendError {
    init(_ error: NotificationIntakeError) {
        self =
            switch error {
            case .invalid(let sentence): .badMessage(sentence)
            case .tooLarge(let sentence): .messageTooLarge(sentence)
            case .conflicting: .keyReused
            case .backlogged(let excess): .backlogged(excess)
            case .storage(let error): BackendError(error)
            }
    }
}
