extension UserName {
    /// Reads the name of a recipient, who need not exist: an error would show a caller which users exist.
    init(recipient text: String) throws(BackendError) {
        do throws(UserNameError) {
            try self.init(text)
        } catch {
            throw .badUserName("The recipient must be one user's name. \(error)")
        }
    }
}
