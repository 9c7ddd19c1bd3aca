/**
 * Calls `handle(event, context)` of the module that is named by its first argument, as the original's hooks are written. What the module prints
 * goes to its standard error, so that nothing but the answer is on its standard output.
 */
export const pythonModuleCall = `
import asyncio, importlib.util, inspect, json, os, sys
answers = os.fdopen(os.dup(1), 'w', encoding='utf-8')
os.dup2(2, 1)
path = sys.argv[1]
sys.path.insert(0, os.path.dirname(path))
spec = importlib.util.spec_from_file_location('handler', path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
call = json.loads(sys.stdin.buffer.read().decode('utf-8'))
answer = module.handle(call['event'], call['context'])
if inspect.isawaitable(answer):
    async def wait():
        return await answer
    answer = asyncio.run(wait())
json.dump(answer, answers)
answers.flush()
`;
