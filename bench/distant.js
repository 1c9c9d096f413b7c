// Appended to a bundled Worker: delays the answers of its D1, like a D1 in another region.

const DISTANCE_MS = 30;

function distantFront(front) {
  const { fetch } = front;
  return {
    ...front,
    fetch(request, env, ctx) {
      makeDistant(env.DB);
      return fetch(request, env, ctx);
    },
  };
}

function distantObject(TaskObject) {
  return new Proxy(TaskObject, {
    construct(target, [context, env], newTarget) {
      makeDistant(env.DB);
      return Reflect.construct(target, [context, env], newTarget);
    },
  });
}

var isDistant = false;

function makeDistant(database) {
  if (isDistant) return;
  isDistant = true;
  const ofStatement = Object.getPrototypeOf(database.prepare("SELECT 1"));
  const late = (prototype, name) => {
    const method = prototype[name];
    prototype[name] = async function (...args) {
      const given = await method.apply(this, args);
      await new Promise((resolve) => setTimeout(resolve, DISTANCE_MS));
      return given;
    };
  };
  late(Object.getPrototypeOf(database), "batch");
  for (const name of ["run", "all", "first", "raw"]) late(ofStatement, name);
}
