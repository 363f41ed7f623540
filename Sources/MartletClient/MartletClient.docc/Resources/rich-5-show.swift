import MartletURLSession
import UserNotifications

func prepareCategory() {
    UNUserNotificationCenter.current().setNotificationCategories([.rich(more: "More")])
}
