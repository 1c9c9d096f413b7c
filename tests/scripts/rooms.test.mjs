// What the code of a module belongs to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { measureRooms, roomOf } from "../../scripts/lib/rooms.mjs";

test("a function belongs to the module of the project that its name has, or to its library", () => {
  const rooms = {
    "a2a_edge::edge::front::decide::hb7948132c756f3c8": "edge::front",
    "a2a_edge::session::run::drive::{{closure}}::h9a2e19e981b335fe": "session",
    "<a2a_edge::executor::http::HttpExecutor as a2a_edge::executor::AgentExecutor>::execute::{{closure}}::hd0b3": "executor",
    "core::ptr::drop_in_place<core::pin::Pin<alloc::boxed::Box<a2a::client::card::fetch>>>::h855a": "a2a",
    "a2a_agents::tool::schema::Visit::value::h4643": "a2a_agents",
    "<&mut serde_json::de::Deserializer<R> as serde_core::de::Deserializer>::deserialize_map::h4fac": "serde",
    "<f64 as core[c5930c85a12de822]::fmt::Display>::fmt": "std",
    "alloc::collections::btree::map::BTreeMap<K,V,A>::insert::hafe5": "std",
    "js_sys::futures::future_to_promise::h1": "bindings of the platform",
    "": "other libraries",
    "a2a_edge::trail::Trail::parse": "other modules",
  };
  for (const [name, room] of Object.entries(rooms)) assert.equal(roomOf(name), room, name);
});

test("the sizes are those of the bodies of a module's functions, behind those that it imports", () => {
  // (module (import "m" "f" (func)) (memory 1) (func nop nop) (func))
  const module = Uint8Array.from([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 2, 7, 1, 1, 0x6d, 1, 0x66, 0, 0, 3, 3, 2, 0, 0, 5, 3, 1, 0, 1, 10, 9, 2, 4, 0, 1, 1, 0x0b, 2, 0, 0x0b,
  ]);
  assert.ok(WebAssembly.validate(module));
  const symbols = "0:m::f\n1:a2a_edge::task::machine::of\\28x\\29\n2:alloc::vec::new\n";
  assert.deepEqual([...measureRooms(module, symbols)], [["task", 4], ["std", 2]]);
});
