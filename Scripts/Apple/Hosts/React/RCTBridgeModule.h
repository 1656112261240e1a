// Own text: what Examples/Hosts/ReactNative uses of react-native. A method's macro makes a method of the text behind it.
// Source: react-native's page "iOS Native Modules", 28 November 2026.
#pragma once
#import <Foundation/Foundation.h>
typedef void (^RCTPromiseResolveBlock)(id result);
typedef void (^RCTPromiseRejectBlock)(NSString *code, NSString *message, NSError *error);
@protocol RCTBridgeModule <NSObject>
+ (NSString *)moduleName;
@optional
@property (nonatomic, readonly) dispatch_queue_t methodQueue;
@end
#define RCT_EXPORT_MODULE(name) + (NSString *)moduleName { return @#name; }
#define RCT_EXPORT_METHOD(method) - (void)method
